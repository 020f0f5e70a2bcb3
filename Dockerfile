# One image for all services: `docker run causeway services/<name>/main.ts`.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
WORKDIR /app
# MALLOC_*: as deploy/bin/causeway has them, and says why.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/causeway \
  MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=1048576
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY deploy ./deploy
COPY libs ./libs
COPY services ./services
# The volumes are mounted over these folders and take their owner over.
RUN mkdir -p /var/cache/causeway /var/lib/causeway/clusters /var/lib/causeway/keys /var/lib/causeway/services \
  && chown -R node:node /var/cache/causeway /var/lib/causeway
USER node
ENTRYPOINT ["node", "--max-semi-space-size=4"]
CMD ["services/cli/main.ts", "--help"]
