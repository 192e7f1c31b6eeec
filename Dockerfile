# Three images: the runtime (workers, duties, the API and Mission Control of one config), the Telegram gateway and the
# upload inbox. See docs/operate/deployment.md for how to run them and how to build an image for your application.
#   docker build -t jobmill .
#   docker build -t jobmill-gateway --target gateway .
#   docker build -t jobmill-inbox --target inbox .
#   docker run -v jobmill:/data -e JOBMILL_TOKENS="me admin $(openssl rand -hex 24)" -p 127.0.0.1:8787:8787 jobmill

# The Node version of the tests. Debian instead of Alpine, because the tests use the glibc binary of SQLite. You can add a
# digest: --build-arg NODE=node:24.21.0-bookworm-slim@sha256:… (see "Pin the base images" in the guide).
ARG NODE=node:24.21.0-bookworm-slim

# The stages up to `inboxmodules` give the same output for x64 and arm64, so they run on the build platform.
FROM --platform=$BUILDPLATFORM ${NODE} AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY examples/package.json examples/
COPY packages/conformance/package.json packages/conformance/
COPY packages/dashboard/package.json packages/dashboard/
COPY packages/jobmill/package.json packages/jobmill/
COPY packages/jobmill/bin packages/jobmill/bin
COPY packages/server/package.json packages/server/
COPY packages/tables/package.json packages/tables/
COPY packages/telegram/package.json packages/telegram/
COPY packages/telegram/bin packages/telegram/bin
COPY packages/uploads/package.json packages/uploads/
COPY packages/uploads/bin packages/uploads/bin

FROM manifests AS build
RUN npm ci
COPY tsconfig.base.json ./
COPY packages/dashboard/index.html packages/dashboard/tsconfig.json packages/dashboard/vite.config.ts packages/dashboard/
COPY packages/dashboard/public packages/dashboard/public
COPY packages/dashboard/src packages/dashboard/src
RUN node_modules/.bin/vite build packages/dashboard
COPY packages/jobmill/tsconfig.json packages/jobmill/
COPY packages/jobmill/src packages/jobmill/src
RUN node_modules/.bin/tsc -p packages/jobmill
COPY packages/server/tsconfig.json packages/server/
COPY packages/server/src packages/server/src
RUN node_modules/.bin/tsc -p packages/server

# The gateway and the inbox compile against the types of jobmill, jobmill-server and jobmill-tables.
FROM build AS tables
COPY packages/tables/tsconfig.json packages/tables/
COPY packages/tables/src packages/tables/src
RUN node_modules/.bin/tsc -p packages/tables

FROM tables AS telegram
COPY packages/telegram/tsconfig.json packages/telegram/
COPY packages/telegram/src packages/telegram/src
RUN node_modules/.bin/tsc -p packages/telegram

FROM tables AS uploads
COPY packages/uploads/tsconfig.json packages/uploads/
COPY packages/uploads/src packages/uploads/src
RUN node_modules/.bin/tsc -p packages/uploads

# The modules of each image. The runtime gets those of the examples, which name the server and both drivers. The SQLite package includes binaries for x64 and arm64 and needs no install script. Its
# sources and the binaries of other systems are four fifths of its size, so they are removed.
FROM manifests AS modules
RUN npm ci --omit=dev --workspace examples \
  && rm -r node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
  && find node_modules/better-sqlite3/prebuilds -type f ! -name 'linux-*' -delete

FROM manifests AS gatewaymodules
RUN npm ci --omit=dev --workspace packages/telegram \
  && rm -r node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
  && find node_modules/better-sqlite3/prebuilds -type f ! -name 'linux-*' -delete

FROM manifests AS inboxmodules
RUN npm ci --omit=dev --workspace packages/uploads \
  && rm -r node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
  && find node_modules/better-sqlite3/prebuilds -type f ! -name 'linux-*' -delete

# The common base of the three images. tini is process 1: it forwards SIGTERM to Node and reaps orphaned processes of
# command jobs. There is no shell or npm in between.
FROM ${NODE} AS base
RUN apt-get update \
  && apt-get install --yes --no-install-recommends tini \
  && rm -r /var/lib/apt/lists/* \
  && mkdir /data \
  && chown 1000:1000 /data
ENV NODE_ENV=production
ENV PATH=/app/node_modules/.bin:$PATH
COPY packages/dashboard/package.json /app/packages/dashboard/
COPY --from=build /app/packages/dashboard/dist /app/packages/dashboard/dist
COPY packages/jobmill/package.json /app/packages/jobmill/
COPY packages/jobmill/bin /app/packages/jobmill/bin
COPY --from=build /app/packages/jobmill/dist /app/packages/jobmill/dist
COPY packages/server/package.json /app/packages/server/
COPY --from=build /app/packages/server/dist /app/packages/server/dist
# The SQLite file is in this folder, unless DATABASE_URL names a database.
WORKDIR /data
VOLUME ["/data"]
# A numeric user, so that Kubernetes can verify that it is not root.
USER 1000:1000
STOPSIGNAL SIGTERM

# The Telegram gateway. Mount its config at TELEGRAM_CONFIG, or pass its text in TELEGRAM_CONFIG_YAML. Mission Control is
# reachable from outside the container, so the gateway does not start without JOBMILL_TOKENS.
FROM base AS gateway
COPY --from=gatewaymodules /app/node_modules /app/node_modules
COPY packages/tables/package.json /app/packages/tables/
COPY --from=tables /app/packages/tables/dist /app/packages/tables/dist
COPY packages/telegram/package.json /app/packages/telegram/
COPY packages/telegram/bin /app/packages/telegram/bin
COPY --from=telegram /app/packages/telegram/dist /app/packages/telegram/dist
ENV TELEGRAM_CONFIG=/app/telegram.yaml
ENV LISTEN=0.0.0.0:8443
ENV ADMIN_LISTEN=0.0.0.0:8787
EXPOSE 8443 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8443/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/node_modules/jobmill-telegram/bin/jobmill-telegram.js"]
CMD ["start"]

# The upload inbox. Its files are in /data too, unless UPLOADS_BLOBS is set. Mission Control is reachable from
# outside of the container, so the inbox does not start without JOBMILL_TOKENS.
FROM base AS inbox
COPY --from=inboxmodules /app/node_modules /app/node_modules
COPY packages/tables/package.json /app/packages/tables/
COPY --from=tables /app/packages/tables/dist /app/packages/tables/dist
COPY packages/uploads/package.json /app/packages/uploads/
COPY packages/uploads/bin /app/packages/uploads/bin
COPY --from=uploads /app/packages/uploads/dist /app/packages/uploads/dist
ENV UPLOADS_BIND=0.0.0.0
ENV UPLOADS_ADMIN_BIND=0.0.0.0
EXPOSE 8788 8789
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8788/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/node_modules/jobmill-uploads/bin/jobmill-uploads.js"]
CMD ["start"]

# The runtime is last, because `docker build` without --target builds the last stage.
FROM base AS jobmill
COPY --from=modules /app/node_modules /app/node_modules
# Declares that configs are ES modules.
COPY examples/package.json /app/
# The demo config. Mount your own over it.
COPY examples/demo.config.ts /app/jobmill.config.ts
EXPOSE 8787
# `jobmill work` needs --port 8787 for this; without a port, run it with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/node_modules/jobmill/bin/jobmill.js"]
CMD ["start", "/app/jobmill.config.ts", "--bind", "0.0.0.0"]
