import { isObject } from '../schema/json-shape.ts'

/** Steps of `fieldsV1` as people read them: `.spec.containers[name="c"].image`. */
export function fieldPath(steps: readonly string[]): string {
  return steps
    .map((step) => {
      const rest = step.slice(2)
      if (step.startsWith('f:')) return `.${rest}`
      if (step.startsWith('v:')) return `[=${rest}]`
      const key: unknown = JSON.parse(rest)
      const pairs = isObject(key) ? Object.entries(key).map(([name, value]) => `${name}=${JSON.stringify(value)}`) : []
      return `[${pairs.join(',')}]`
    })
    .join('')
}
