import { X509Certificate, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServerCredential } from './tls/certificate.ts'
import type { Credential } from './tls/certificate.ts'

const CERTIFICATE_DAYS = 3650
const RENEW_BEFORE_MS = 30 * 86_400_000

/** The files of the server: `tls/`, `admin-token`, `clusters/<name>.db` and `.token`, `kubeconfigs/<name>.yaml`. */
export class DataDirectory {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    for (const folder of ['tls', 'clusters', 'kubeconfigs']) {
      mkdirSync(join(root, folder), { recursive: true, mode: 0o700 })
    }
  }

  /** The certificate of the server and its authority; made anew when there is none or it runs out. */
  credential(hosts: readonly string[], now: number): { authority: string; server: Credential } {
    const [authority, certificate, key] = ['ca.crt', 'server.crt', 'server.key'].map((file) => this.#path('tls', file))
    if (authority === undefined || certificate === undefined || key === undefined) throw new Error('unreachable')
    const known = read(certificate)
    if (known !== undefined && isUsable(known, hosts, now)) {
      const server = { certificate: known, key: readFileSync(key, 'utf8') }
      return { authority: readFileSync(authority, 'utf8'), server }
    }
    const made = createServerCredential({ hosts, now, days: CERTIFICATE_DAYS })
    write(authority, made.authority)
    write(key, made.server.key)
    // Last: its presence says that the others are complete.
    write(certificate, made.server.certificate)
    return made
  }

  /** Token for the server's own administration. */
  adminToken(): string {
    return token(this.#path('admin-token'))
  }

  /** Token of a cluster's administrator. */
  clusterToken(name: string): string {
    return token(this.#path('clusters', `${name}.token`))
  }

  clusterFile(name: string): string {
    return this.#path('clusters', `${name}.db`)
  }

  clusterNames(): string[] {
    return readdirSync(this.#path('clusters'))
      .filter((file) => file.endsWith('.db'))
      .map((file) => file.slice(0, -'.db'.length))
      .sort()
  }

  removeCluster(name: string): void {
    const files = ['.db', '.db-wal', '.db-shm', '.token'].map((suffix) => this.#path('clusters', `${name}${suffix}`))
    for (const file of [...files, this.kubeconfigFile(name)]) rmSync(file, { force: true })
  }

  kubeconfigFile(name: string): string {
    return this.#path('kubeconfigs', `${name}.yaml`)
  }

  writeKubeconfig(name: string, text: string): void {
    write(this.kubeconfigFile(name), text)
  }

  #path(...parts: string[]): string {
    return join(this.#root, ...parts)
  }
}

function isUsable(certificate: string, hosts: readonly string[], now: number): boolean {
  const parsed = new X509Certificate(certificate)
  const covers = hosts.every((host) => (parsed.checkHost(host) ?? parsed.checkIP(host)) !== undefined)
  return covers && Date.parse(parsed.validTo) - now > RENEW_BEFORE_MS
}

function token(file: string): string {
  const known = read(file)?.trim()
  if (known !== undefined && known !== '') return known
  const made = randomBytes(24).toString('base64url')
  write(file, `${made}\n`)
  return made
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Whole or not at all, and readable for the owner only. */
function write(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: 0o600 })
  chmodSync(temporary, 0o600)
  renameSync(temporary, file)
}
