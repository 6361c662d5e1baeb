// A live chart of the last minutes.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../theme";

export interface Line {
  label: string;
  color: string; // a custom property of the style
  values: (number | null)[];
}

// Colours as the canvas wants them: what the style makes of a custom property.
function resolved(probe: HTMLElement, name: string): string {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const HEIGHT = 180;

interface Props {
  label: string;
  unit: string;
  at: number[];
  lines: Line[];
}

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const chosen = theme.value;
  const data = [props.at, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const host = box.current!;
    const probe = host.previousElementSibling as HTMLElement;
    const axis = (): uPlot.Axis => ({
      stroke: () => resolved(probe, "--quiet"),
      grid: { stroke: () => resolved(probe, "--line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    });
    const made = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_, __, high) => [0, Math.max(1, (high ?? 0) * 1.1)] } },
        axes: [
          { ...axis(), size: 30, values: (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toLocaleTimeString("en-GB")), space: 90 },
          { ...axis(), size: 46 },
        ],
        series: [
          {},
          ...props.lines.map((line) => ({
            label: line.label,
            stroke: () => resolved(probe, line.color),
            width: 2,
            spanGaps: true,
            points: { show: false },
          })),
        ],
      },
      latest.current,
      host,
    );
    plot.current = made;
    const resizing = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: HEIGHT }));
    resizing.observe(host);
    return () => {
      resizing.disconnect();
      made.destroy();
    };
  }, [chosen, props.lines.length]);

  useEffect(() => plot.current?.setData(latest.current), [props.at]);

  const newest = props.lines.map((line) => {
    const value = line.values.findLast((each) => each !== null);
    return { ...line, text: value === undefined || value === null ? "–" : `${value < 10 ? value.toFixed(1) : Math.round(value)} ${props.unit}` };
  });
  const summary = newest.map((line) => `${line.label} ${line.text}`).join(", ");
  return (
    <figure class="chart">
      <figcaption>
        {newest.map((line) => (
          <span class="key">
            <span class="dot" style={{ background: `var(${line.color})` }} aria-hidden="true" />
            {line.label} <b>{line.text}</b>
          </span>
        ))}
      </figcaption>
      <span hidden />
      <div ref={box} class="plot" role="img" aria-label={`${props.label}: ${summary}`} />
    </figure>
  );
}
