import { type Bus, type Kv, openKv } from '#libs/bus'

/** How it stands with an API, as the watcher reports it: `synced`, `listing`, `absent`, `unreachable`, `unauthorized`, `cluster-changed`. */
export type Health = { state: string; message: string; since: string }

/** The watcher's reports; keys are `host` and `tenant.<name>`. */
export function openHealth(bus: Bus, replicas: number): Promise<Kv<Health>> {
  return openKv<Health>(bus, { bucket: 'causeway-status', replicas })
}
