# Image of bridge-exporter. It needs no shell and no capabilities, and writes to the volume /var/lib/bridge-exporter only:
#   docker build -t bridge-exporter .
#   docker run --read-only --cap-drop=ALL --memory=256m -p 127.0.0.1:10917:10917 \
#     -e BRIDGE_URL=https://node.example.org bridge-exporter
# The base URL of a node is enough: BRIDGE_URL for Injective, CROSSCHAIN_URL for ZetaChain.

# The result contains only Node.js and the libraries that it loads from this image, without a shell and a package manager, as a distroless image.
FROM node:24.21.0-bookworm-slim AS runtime

# The program contains no native code, so the build platform builds for every platform.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY packaging ./packaging
COPY src ./src
# The build context has no git repository to read the revision from.
ARG REVISION
RUN node packaging/bundle.mjs /app --program
# Node.js of the target platform, and nothing else of its image.
RUN --mount=type=bind,from=runtime,target=/runtime node packaging/runtime.mjs /runtime /root-filesystem
# For the state file, whoever the user is.
RUN mkdir --parents --mode=1777 /root-filesystem/var/lib/bridge-exporter

FROM scratch
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="bridge-exporter" \
      org.opencontainers.image.description="Prometheus exporter for token bridges" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/bridge-exporter/bridge-exporter" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /root-filesystem /
WORKDIR /app
COPY --from=build /app ./
COPY LICENSE ./
ENV PATH=/usr/local/bin
ENV NODE_ENV=production
# What is remembered survives a restart of the container; a named volume also survives its removal.
ENV STATE_FILE=/var/lib/bridge-exporter/state.json
VOLUME /var/lib/bridge-exporter
EXPOSE 10917
# User `node` of the Node.js image. Numeric, so that Kubernetes can verify runAsNonRoot.
USER 1000:1000
# Reads the same variables as the daemon. When the daemon has --web.* flags, override the command with the same flags. Kubernetes ignores it.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "/app/dist/main.js", "healthcheck"]
# The chart passes arguments only, so its container has the flag, too. Its reason is in docs/performance.md.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", "--heap-growing-percent=60", "/app/dist/main.js"]
