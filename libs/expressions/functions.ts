import type { Environment } from '@marcbachmann/cel-js'
import { boundText } from './meter.ts'

/** Adds what changing names and hosts needs and the language itself lacks. Names are those of CEL's extensions, where it has any. */
export function addFunctions(environment: Environment): Environment {
  return environment
    .registerFunction('string.replace(string, string): string', replaceAll)
    .registerFunction('string.trimPrefix(string): string', (text: string, prefix: string) =>
      text.startsWith(prefix) ? text.slice(prefix.length) : text,
    )
    .registerFunction('string.trimSuffix(string): string', (text: string, suffix: string) =>
      suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text,
    )
}

function replaceAll(text: string, from: string, to: string): string {
  const parts = text.split(from)
  boundText(text.length + (parts.length - 1) * (to.length - from.length))
  return parts.join(to)
}
