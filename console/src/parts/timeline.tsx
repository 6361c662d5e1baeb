// Why a task ran twice: its attempts as bars on one time axis, who held it from when to when, how that ended, and which
// reports came too late.
import { useEffect, useRef, useState } from "preact/hooks";
import { now, useNow } from "../clock";
import { span, time } from "../format";
import { marksOf, type Mark } from "../happenings";
import type { Attempt, Task } from "../replies";

const ROW = 64;
const BAR = 16;
const EDGE = 12;
const AXIS = 34;

// Steps that people count in.
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000, 2_592_000_000];

function ticksOf(length: number, most: number): number[] {
  const step = STEPS.find((each) => length / each <= most) ?? length;
  const ticks: number[] = [];
  for (let at = 0; at <= length; at += step) ticks.push(at);
  return ticks;
}

// How it ended, and what else there is to say.
function endingsOf(attempt: Attempt): string[] {
  const parts: string[] = [];
  if (attempt.outcome === "LEASED") parts.push("running now");
  else parts.push(`${attempt.outcome.toLowerCase()} after ${span((attempt.ended_at ?? 0) - attempt.granted_at)}`);
  if (attempt.extensions) parts.push(`extended ${attempt.extensions === 1 ? "once" : `${attempt.extensions} times`}`);
  if (attempt.late) parts.push(attempt.late === 1 ? "late report refused" : `${attempt.late} late reports refused`);
  return parts;
}

const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// When the late report came, if this page saw it. Its record does not say whose it was: where several attempts have one, it
// is drawn at the axis' end.
function lateAt(attempts: Attempt[], marks: Mark[]): number | null {
  const isOfOne = attempts.filter((each) => each.late > 0).length === 1;
  return (isOfOne && marks.find((mark) => mark.kind === "late")?.at) || null;
}

interface Scale {
  x: (at: number) => number;
  end: number;
}

function Row(props: { attempt: Attempt; task: Task; top: number; scale: Scale; marks: Mark[]; lateAt: number | null; isNarrow: boolean }) {
  const { attempt, scale, top } = props;
  const from = scale.x(attempt.granted_at);
  const until = scale.x(attempt.ended_at ?? now());
  const [how, ...more] = endingsOf(attempt);
  const y = top + (props.isNarrow ? 52 : 24);
  const kind = attempt.outcome.toLowerCase();
  const late = attempt.late > 0 ? scale.x(props.lateAt ?? scale.end) : null;
  const promised = attempt.outcome === "LEASED" && props.task.expires_at ? scale.x(props.task.expires_at) : null;
  const extensions = props.marks.filter((mark) => mark.kind === "extended" && mark.fence === Number(attempt.fence));
  return (
    <g>
      <text class="who" x={EDGE} y={top + 12}>
        {`${attempt.attempt}. ${shortened(attempt.worker, props.isNarrow ? 22 : 40)}`}
        <tspan class="fence">{`  fence ${attempt.fence}`}</tspan>
      </text>
      {props.isNarrow ? (
        <>
          <text class={`how ${kind}`} x={EDGE} y={top + 28}>{how}</text>
          <text class={`how ${kind}`} x={EDGE} y={top + 44}>{more.join(", ")}</text>
        </>
      ) : (
        <text class={`how ${kind}`} x={scale.x(scale.end)} y={top + 12} text-anchor="end">
          {[how, ...more].join(", ")}
        </text>
      )}
      {promised !== null && promised > until && <rect class="promised" x={until} y={y} width={promised - until} height={BAR} />}
      {late !== null && <line class="after" x1={until} x2={late} y1={y + BAR / 2} y2={y + BAR / 2} />}
      <rect class={`bar ${kind}`} x={from} y={y} width={Math.max(3, until - from)} height={BAR} rx="3" />
      {extensions.map((mark) => (
        <line class="extended" x1={scale.x(mark.at)} x2={scale.x(mark.at)} y1={y - 3} y2={y + BAR + 3} />
      ))}
      {late !== null && (
        <path class="late" d={`M${late - 5} ${y + BAR / 2 - 5}l10 10m0 -10l-10 10`} />
      )}
    </g>
  );
}

function Axis(props: { begin: number; length: number; scale: Scale; height: number; width: number }) {
  const ticks = ticksOf(props.length, Math.max(2, Math.floor(props.width / 110)));
  const bottom = props.height - AXIS;
  return (
    <g class="axis">
      {ticks.map((tick) => {
        const x = props.scale.x(props.begin + tick);
        const isNearEnd = x > props.width - 40;
        return (
          <g>
            <line x1={x} x2={x} y1="0" y2={bottom} />
            <text x={x} y={bottom + 16} text-anchor={tick === 0 ? "start" : isNearEnd ? "end" : "middle"}>
              {tick === 0 ? `${time(props.begin)}` : `+${span(tick)}`}
            </text>
          </g>
        );
      })}
      <text x={EDGE} y={bottom + 30}>
        submitted
      </text>
    </g>
  );
}

export function Timeline(props: { task: Task; attempts: Attempt[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    watcher.observe(box.current!);
    return () => watcher.disconnect();
  }, []);
  const { task, attempts } = props;
  const isRunning = attempts.some((each) => each.outcome === "LEASED");
  const present = useNow();
  const marks = marksOf(task.task_id);
  const isNarrow = width < 560;
  const row = isNarrow ? ROW + 26 : ROW;

  const begin = task.created_at;
  const last = Math.max(
    begin + 1000,
    ...attempts.map((each) => each.ended_at ?? 0),
    ...marks.map((mark) => mark.at),
    isRunning ? Math.max(present, task.expires_at ?? 0) : 0,
  );
  // Room behind the last thing that happened, where late reports of unknown time are drawn.
  const end = begin + (last - begin) * 1.06;
  const scale: Scale = { x: (at) => EDGE + ((at - begin) / (end - begin)) * (width - 2 * EDGE), end };
  const height = attempts.length * row + AXIS + 8;
  const told = attempts.map((each) => `Attempt ${each.attempt} by ${each.worker}, fence ${each.fence}: ${endingsOf(each).join(", ")}.`).join(" ");
  return (
    <div class="timeline" ref={box}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Attempts on a time axis. ${told}`}>
        <Axis begin={begin} length={end - begin} scale={scale} height={height} width={width} />
        {attempts.map((attempt, index) => (
          <Row attempt={attempt} task={task} top={index * row + 4} scale={scale} marks={marks} lateAt={lateAt(attempts, marks)} isNarrow={isNarrow} />
        ))}
      </svg>
      <p class="legend" aria-hidden="true">
        <span class="key"><i class="swatch completed" /> completed</span>
        <span class="key"><i class="swatch leased" /> leased now</span>
        <span class="key"><i class="swatch expired" /> expired: time took it back</span>
        <span class="key"><i class="swatch failed" /> failed or killed</span>
        <span class="key"><i class="cross">✕</i> late report refused</span>
      </p>
    </div>
  );
}
