# Built in stages. The last one holds only the compiled service and the packages that it loads. The tag is exact, but
# its owner can move it: docs/deploying.md explains how to pin the digest, and how to renew both.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# A change of the sources does not rebuild this stage and the next one.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/embedded-database/package.json packages/embedded-database/
COPY packages/image-server/package.json packages/image-server/
COPY scripts/launch/install-scripts.mjs scripts/launch/
COPY scripts/release/trim-packages.mjs scripts/release/
# npm ci does not run install scripts. The needed ones are run by name.
RUN npm ci && node scripts/launch/install-scripts.mjs

FROM packages AS runtime-packages
# The optional package esbuild is removed by name, since --omit=optional would also remove binaries that other packages
# need.
RUN npm ci --omit=dev --workspace=packages/image-server --include-workspace-root --prefer-offline && node scripts/launch/install-scripts.mjs
RUN npm uninstall --no-save --omit=dev --workspace=packages/image-server --include-workspace-root esbuild && node scripts/release/trim-packages.mjs

FROM packages AS build
COPY knexfile.ts ./
COPY scripts/release/build.mjs scripts/release/
COPY scripts/operate/admin.ts scripts/operate/migrate.ts scripts/operate/migrate-rollback.ts scripts/operate/
COPY packages/embedded-database/src packages/embedded-database/src
COPY packages/image-server/src packages/image-server/src
COPY migrations migrations
COPY docs/openapi.json docs/admin-openapi.json docs/
COPY src src
RUN node scripts/release/build.mjs

FROM ${NODE_IMAGE} AS service
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8585 DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data \
  && printf '#!/bin/sh\nexec node /app/dist/scripts/operate/admin.js "$@"\n' > /usr/local/bin/admin && chmod +x /usr/local/bin/admin
COPY --from=runtime-packages /app/package.json ./
COPY --from=runtime-packages /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
VOLUME /data
EXPOSE 8585
HEALTHCHECK --interval=10s --timeout=3s --start-period=10m \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Source maps make errors in the log name lines of the sources.
CMD ["node", "--enable-source-maps", "dist/src/server.js"]
ARG VERSION=unknown REVISION=unknown SOURCE=unknown
LABEL org.opencontainers.image.title="User Account Service" \
  org.opencontainers.image.description="Phone-number accounts for messaging apps: a plain REST API on Express and PostgreSQL" \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$REVISION \
  org.opencontainers.image.source=$SOURCE
