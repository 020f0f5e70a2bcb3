import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import type { TenantContext } from '../view.ts'

/** What `context.yaml` says of a golden case. */
export type GoldenContext = {
  tenant?: Partial<TenantContext>
  /** The tenant's configuration as it is written. */
  config?: JsonObject
  virtual?: { ref: ObjectRef; object: KubeObject }[]
  host?: { ref: ObjectRef; object: KubeObject }[]
  users?: { of: ObjectRef; by: ObjectRef[] }[]
}

/** A folder of golden files. */
export type GoldenCase = { name: string; folder: string; context: GoldenContext }

/** The golden cases of a kind or mirror. @param place `kinds/pods` or the like */
export function goldenCases(place: string): GoldenCase[] {
  const fixtures = join(import.meta.dirname, '..', place, 'fixtures')
  if (!existsSync(fixtures)) return []
  return readdirSync(fixtures).map((name) => {
    const folder = join(fixtures, name)
    return { name, folder, context: readGolden<GoldenContext>(folder, 'context.yaml') ?? {} }
  })
}

/** Reads one of a case's files; `undefined` where it has none of the name. */
export function readGolden<T>(folder: string, name: string): T | undefined {
  const path = join(folder, name)
  return existsSync(path) ? (parse(readFileSync(path, 'utf8')) as T) : undefined
}
