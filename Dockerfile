# The server in a container:
#   docker build -t tenure .
#   docker run -p 127.0.0.1:8368:8368 -p 127.0.0.1:8369:8369 -v tenure:/var/lib/tenure tenure --bind 0.0.0.0 --insecure
# Its only way in are the ports that are published, here to this machine alone; otherwise give it users and TLS instead of
# --insecure (docs/security.md).
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
COPY . /tenure
RUN make -C /tenure deb

FROM debian:12-slim
COPY --from=build /tenure/build/release/tenure_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/tenure_*.deb && rm -rf /tmp/* /var/lib/apt/lists/*
USER tenure
ENV TENURE_DATA=/var/lib/tenure
VOLUME /var/lib/tenure
EXPOSE 8368 8369
ENTRYPOINT ["tenured"]
