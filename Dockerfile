# Image of bridge-exporter. It needs no shell, no capabilities and no writable file system:
#   docker build -t bridge-exporter .
#   docker run --read-only --cap-drop=ALL --memory=256m -p 127.0.0.1:10917:10917 \
#     -e BRIDGE_URL=https://node.example.org bridge-exporter
# The base URL of a node is enough: BRIDGE_URL for Injective, CROSSCHAIN_URL for ZetaChain.

# The result contains no native code, so the build platform builds for every platform.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
ARG REVISION
# The build context has no git repository to read the revision from.
RUN npm run build && echo "$REVISION" > dist/revision

# A stage of its own, so that source changes do not invalidate this layer.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev

FROM node:24.21.0-bookworm-slim
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="bridge-exporter" \
      org.opencontainers.image.description="Prometheus exporter for token bridges" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=dependencies /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
ENV NODE_ENV=production
EXPOSE 10917
# User `node` of the base image. Numeric, so that Kubernetes can verify runAsNonRoot.
USER 1000:1000
# Requests /-/healthy over plain HTTP at WEB_LISTEN_ADDRESS. Replace it when the exporter uses TLS, passwords without
# health_paths_without_auth, or --web.listen-address. Kubernetes ignores it.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "-e", "\
  const address = (process.env.WEB_LISTEN_ADDRESS || ':10917').replace(/^:/, 'localhost:'); \
  const exit = ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1); \
  require('http').get('http://' + address + '/-/healthy', exit)"]
ENTRYPOINT ["node", "/app/dist/main.js"]
