# The image of bridge-exporter. It needs no shell, no capability and nothing to write to:
#   docker build -t bridge-exporter .
#   docker run --read-only --cap-drop=ALL --memory=256m -p 127.0.0.1:10917:10917 \
#     -e BRIDGE_URL=https://node.example.org bridge-exporter

# Nothing that is copied from here is native code, so the platform that builds does it for every platform.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
RUN npm run build

# Apart from the build, so that a change of the source leaves this layer as it is.
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
# Of glibc: what is as large goes back to the system when it is freed, the pieces included in which documents come. Otherwise that
# size rises up to 32 MiB, and what is below leaves holes that stay resident.
ENV MALLOC_MMAP_THRESHOLD_=65536
EXPOSE 10917
# `node` of the base image, by number: Kubernetes can tell that it is not root.
USER 1000:1000
# Asks over plain HTTP, where WEB_LISTEN_ADDRESS says. With TLS, with a password and without health_paths_without_auth, or
# with the flag instead of the variable, put another check in its place. Kubernetes does not look at it.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "-e", "\
  const address = (process.env.WEB_LISTEN_ADDRESS || ':10917').replace(/^:/, 'localhost:'); \
  const exit = ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1); \
  require('http').get('http://' + address + '/-/healthy', exit)"]
ENTRYPOINT ["node", "/app/dist/main.js"]
