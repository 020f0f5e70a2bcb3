import { afterEach, beforeEach } from 'vitest'
import { type KubeClient, createKubeClient } from '#libs/kube'
import { type FakeApiServer, startFakeApiServer } from '#libs/kube/testing'

/** The host and one tenant, played by scripts, new for each test. */
export type TwoServers = {
  hostServer: FakeApiServer
  tenantServer: FakeApiServer
  host: KubeClient
  tenant: KubeClient
}

/** Starts both before each test of the file and stops them after it. What is returned holds those of the test that runs. */
export function twoServers(): TwoServers {
  const servers = {} as TwoServers
  beforeEach(async () => {
    const [hostServer, tenantServer] = [await startFakeApiServer(), await startFakeApiServer()]
    const [host, tenant] = [createKubeClient(hostServer.config), createKubeClient(tenantServer.config)]
    Object.assign(servers, { hostServer, tenantServer, host, tenant })
  })
  afterEach(async () => {
    await servers.host.close()
    await servers.tenant.close()
    await servers.hostServer.close()
    await servers.tenantServer.close()
  })
  return servers
}
