# syntax=docker/dockerfile:1

# --- Packages: production only, exactly those of the lock ------------------------------------------
FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --include=optional --no-audit --no-fund \
  && node_modules/.bin/bun --version \
  # The Bun binary is in node_modules/bun now; bunx is a second copy of it.
  && rm -rf node_modules/@oven node_modules/bun/bin/bunx.exe node_modules/.bin/bunx

# --- The program ------------------------------------------------------------------------------------
FROM debian:bookworm-slim
# ffmpeg is for the role media; the other roles work without it.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ffmpeg \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY crowd ./crowd
COPY demo ./demo
COPY player ./player
COPY protocol ./protocol
COPY sdk ./sdk
COPY server ./server
COPY studio ./studio
RUN ln -s /app/bin/fourbeat /usr/local/bin/fourbeat \
  && ln -s /app/node_modules/bun/bin/bun.exe /usr/local/bin/bun \
  # Mount a volume here: it holds the SQLite database of a single node, and video. A node of a cluster
  # without the role media stores nothing here.
  && install -d -m 700 -o 10001 -g 10001 /var/lib/fourbeat

ENV FOURBEAT_DATA=/var/lib/fourbeat \
    # Write nothing outside of the data directory.
    BUN_RUNTIME_TRANSPILER_CACHE_PATH=0 \
    DO_NOT_TRACK=1
USER 10001:10001
VOLUME /var/lib/fourbeat
# HTTP; video by RTMP and by SRT.
EXPOSE 4250 1935 10080/udp
# Informative only: a node that lost a backend is not ready, and recovers without a restart.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --start-interval=1s --retries=3 \
  CMD ["bun", "--no-env-file", "-e", "const r = await fetch(`http://127.0.0.1:${process.env.FOURBEAT_PORT || 4250}/readyz`); process.exit(r.ok ? 0 : 1)"]
# bin/fourbeat replaces itself by the program (exec), so that SIGTERM reaches the program and it drains.
STOPSIGNAL SIGTERM
ENTRYPOINT ["fourbeat"]
CMD ["serve"]
