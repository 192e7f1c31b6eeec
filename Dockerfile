# Jobmill in a container: workers, duties, the API and Mission Control of one config. docs/guides/deploying.md says how to run it, and how an
# application of yours gets an image of its own.
#   docker build -t jobmill .
#   docker run -v jobmill:/data -e JOBMILL_TOKENS="me admin $(openssl rand -hex 24)" -p 127.0.0.1:8787:8787 jobmill

# The Node that the tests run on. Debian and not Alpine: what is tested is the binary of SQLite for glibc.
ARG NODE=node:24.21.0-bookworm-slim

# What comes out of the next two stages is the same for x64 and arm64, so they run on the machine that builds.
FROM --platform=$BUILDPLATFORM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/jobmill/package.json packages/jobmill/
COPY packages/dashboard/package.json packages/dashboard/
COPY examples/package.json examples/
RUN npm ci
COPY tsconfig.base.json ./
COPY packages/dashboard/index.html packages/dashboard/tsconfig.json packages/dashboard/vite.config.ts packages/dashboard/
COPY packages/dashboard/public packages/dashboard/public
COPY packages/dashboard/src packages/dashboard/src
RUN node_modules/.bin/vite build packages/dashboard
COPY packages/jobmill/tsconfig.json packages/jobmill/
COPY packages/jobmill/src packages/jobmill/src
RUN node_modules/.bin/tsc -p packages/jobmill

# The package of SQLite brings its binaries along, for x64 and arm64, and runs no script to install them. Those of other
# systems, and its sources, are four fifths of it.
FROM --platform=$BUILDPLATFORM ${NODE} AS production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/jobmill/package.json packages/jobmill/
COPY packages/jobmill/bin packages/jobmill/bin
COPY packages/dashboard/package.json packages/dashboard/
COPY examples/package.json examples/
RUN npm ci --omit=dev --workspace packages/jobmill \
  && rm -r node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
  && find node_modules/better-sqlite3/prebuilds -type f ! -name 'linux-*' -delete

FROM ${NODE}
ENV NODE_ENV=production
ENV PATH=/app/node_modules/.bin:$PATH
WORKDIR /app
# It says that configs are ES modules.
COPY examples/package.json ./
COPY --from=production /app/node_modules node_modules
COPY packages/jobmill/package.json packages/jobmill/
COPY packages/jobmill/bin packages/jobmill/bin
COPY --from=build /app/packages/jobmill/dist packages/jobmill/dist
COPY packages/dashboard/package.json packages/dashboard/
COPY --from=build /app/packages/dashboard/dist packages/dashboard/dist
# Mount your own over it.
COPY examples/demo.config.ts jobmill.config.ts

# Without DATABASE_URL the jobs are in the file jobmill.db of this folder.
RUN mkdir /data && chown 1000:1000 /data
WORKDIR /data
VOLUME ["/data"]

# By its number, so that Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8787
STOPSIGNAL SIGTERM

# `jobmill work` needs --port 8787 for this; without a port, run it with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# Node itself is the first process and gets the signal: no shell and no npm in between.
ENTRYPOINT ["node", "/app/node_modules/jobmill/bin/jobmill.js"]
CMD ["start", "/app/jobmill.config.ts", "--bind", "0.0.0.0"]
