# Three images of one file:
#
#   docker build --target webloom -t webloom .    the command line and nothing else; your own image begins with it
#   docker build --target browser -t webloom-browser .   the same with a Chromium, for meta.browser (docs/guides/browser.md)
#   docker build -t webloom-example .             the same with the project in examples/cluster, as docker-compose.yml runs it

FROM node:24-bookworm-slim AS build
WORKDIR /webloom
# What npm needs to know comes first: as long as it is the same, the packages are not fetched again.
COPY package.json package-lock.json ./
COPY packages/url/package.json packages/url/
COPY packages/selectors/package.json packages/selectors/
COPY packages/core/package.json packages/core/
COPY packages/dupefilter/package.json packages/dupefilter/
COPY packages/queue/package.json packages/queue/
COPY packages/scheduler/package.json packages/scheduler/
COPY packages/downloader/package.json packages/downloader/
COPY packages/spider/package.json packages/spider/
COPY packages/dashboard/package.json packages/dashboard/
COPY packages/browser/package.json packages/browser/
COPY packages/webloom/package.json packages/webloom/
COPY packages/create-webloom/package.json packages/create-webloom/
COPY packages/testkit/package.json packages/testkit/
COPY packages/webloom/bin packages/webloom/bin
COPY packages/create-webloom/bin packages/create-webloom/bin
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build \
 && npm prune --omit=dev --no-audit --no-fund \
 && rm -rf packages/testkit node_modules/@webloom/testkit packages/create-webloom node_modules/create-webloom \
  node_modules/.bin/create-webloom packages/*/src packages/*/tsconfig*

FROM node:24-bookworm-slim AS webloom
ENV NODE_ENV=production
# glibc hands memory back that large pages took once; worker --processes does the same for its processes.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
COPY --from=build /webloom/package.json /webloom/
COPY --from=build /webloom/node_modules /webloom/node_modules
COPY --from=build /webloom/packages /webloom/packages
COPY --from=build /webloom/scripts/container-health.ts /webloom/scripts/
RUN ln -s /webloom/packages/webloom/bin/webloom.js /usr/local/bin/webloom \
 && mkdir /project \
 && chown node:node /project
# The user `node`, by number: Kubernetes cannot tell of a name that it is not root's (runAsNonRoot).
USER 1000:1000
WORKDIR /project
# The first SIGTERM lets what is in flight finish, SHUTDOWN_GRACE (30 s) at the most. Give it longer than that:
# docker stop -t 45, stop_grace_period of compose, terminationGracePeriodSeconds of Kubernetes.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "/webloom/scripts/container-health.ts"]
ENTRYPOINT ["webloom"]
CMD ["--help"]

# Chromium has its sandbox where the container is run with packages/browser/chromium-seccomp.json, as docker-compose.yml does.
FROM webloom AS browser
USER root
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation \
 && rm -rf /var/lib/apt/lists/*
USER 1000:1000

# A project needs no build and no packages of its own: its TypeScript runs as it is, and finds webloom in the image.
FROM webloom AS example
COPY examples/cluster ./
