# One target per service: docker build --target fencer . docker-compose.yml builds them all; docs/compose.md.
# The base has Debian's apt, and Node ≥ 20.19 with npm. What changes most often comes last: a change of the code leaves the
# layers of packages and tools as they are.
ARG BASE_IMAGE=node:24-bookworm-slim

# By the lock file alone: what builds, and what runs.
FROM ${BASE_IMAGE} AS packages
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM packages AS production
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM packages AS build
COPY package.json LICENSE program/
COPY bin program/bin
COPY deploy/docker/healthcheck.mjs program/deploy/docker/healthcheck.mjs
COPY tsconfig.json ./
COPY deploy/docker/tsconfig.json deploy/docker/tsconfig.json
COPY libs libs
COPY apps apps
RUN node_modules/.bin/tsc -p deploy/docker/tsconfig.json && mv dist program/dist

# What every service has, and nothing to build with.
FROM ${BASE_IMAGE} AS service
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx \
    /usr/local/bin/corepack /opt/yarn* /usr/local/bin/yarn* \
  && groupadd --gid 10001 muster \
  && useradd --uid 10001 --gid 10001 --home-dir /var/lib/muster --no-create-home --shell /usr/sbin/nologin muster \
  && install -d -o muster -g muster -m 700 /etc/muster /var/lib/muster /run/muster
WORKDIR /opt/muster
COPY --from=production /build/node_modules node_modules
# A service in it wants to be told which machine it runs on: MUSTER_HOST, MUSTER_HOST_ADDRESSES.
ENV NODE_ENV=production MUSTER_CONTAINER=true MUSTER_CONFIG=/etc/muster/muster.yaml MUSTER_HEALTH=/run/muster/health.sock
USER 10001:10001
ENTRYPOINT ["/usr/bin/tini", "--"]
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "/opt/muster/deploy/docker/healthcheck.mjs"]

FROM service AS gateway
COPY --from=build /build/program ./
CMD ["node", "dist/apps/gateway/src/main.js"]

FROM service AS inventory
USER root
RUN install -d -o muster -g muster -m 700 /var/lib/muster/inventory
COPY --from=build /build/program ./
USER 10001:10001
ENV MUSTER_DATA_DIR=/var/lib/muster/inventory
CMD ["node", "dist/apps/inventory/src/main.js"]

FROM service AS detector
USER root
# ping has the capability as a file's own: a process without root gets NET_RAW in no other way from an engine.
RUN apt-get update \
  && apt-get install -y --no-install-recommends iputils-ping libcap2-bin \
  && setcap cap_net_raw+ep "$(readlink -f /bin/ping)" \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=build /build/program ./
USER 10001:10001
CMD ["node", "dist/apps/detector/src/main.js"]

FROM service AS fencer
USER root
RUN apt-get update \
  && apt-get install -y --no-install-recommends ipmitool freeipmi-tools fence-agents \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=build /build/program ./
USER 10001:10001
CMD ["node", "dist/apps/fencer/src/main.js"]

FROM service AS provisioner
USER root
RUN apt-get update \
  && apt-get install -y --no-install-recommends ansible-core openssh-client \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && install -d -o muster -g muster -m 700 /var/lib/muster/provisioner
COPY --from=build /build/program ./
COPY playbooks playbooks
COPY examples examples
USER 10001:10001
ENV MUSTER_DATA_DIR=/var/lib/muster/provisioner HOME=/var/lib/muster/provisioner
CMD ["node", "dist/apps/provisioner/src/main.js"]

# Not a service: makes the installation, and is the command line.
FROM service AS init
USER root
RUN apt-get update \
  && apt-get install -y --no-install-recommends openssh-client \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && install -d -o muster -g muster -m 700 /var/lib/muster/nats /saved /shown /shown/nats /shown/inventory /shown/detector \
    /shown/provisioner /shown/fencer /shown/gateway /shown/demo
COPY --from=build /build/program ./
USER 10001:10001
HEALTHCHECK NONE
CMD ["node", "dist/apps/cli/src/containers/main.js"]

# No part of production: the lab, for docker-compose.yml's profile `demo`. Below all that is one: who builds a service
# builds nothing of this.
FROM packages AS demo-build
COPY tsconfig.json ./
COPY deploy/docker/tsconfig.json deploy/docker/demo.tsconfig.json deploy/docker/
COPY libs libs
COPY apps apps
COPY lab lab
RUN node_modules/.bin/tsc -p deploy/docker/demo.tsconfig.json

FROM service AS demo
USER root
# The hosts' sshd lets the user in that it runs as, who needs a shell for that; each host makes its own keys.
RUN apt-get update \
  && apt-get install -y --no-install-recommends openipmi openssh-client openssh-server python3 \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /etc/ssh/ssh_host_* \
  && usermod --shell /bin/sh muster \
  && install -d -o muster -g muster -m 700 /lab
COPY --from=demo-build /build/dist dist
COPY package.json ./
COPY bin bin
COPY lab/host lab/host
COPY deploy/docker/lab.sh /usr/local/bin/lab
USER 10001:10001
HEALTHCHECK NONE
ENTRYPOINT ["/usr/bin/tini", "--", "node", "dist/lab/src/demo/main.js", "--mode", "loopback", "--dir", "/lab/demo", \
  "--creds", "/etc/muster", "--token", "/etc/muster/demo/token", "--ssh-key", "/etc/muster/ssh/id_ed25519", "--stay"]
