import { Counter, Gauge, Histogram } from 'prom-client'

/* Loaded before a service (`--import`): then it counts nothing, and what counting costs can be measured. */

const nothing = (): void => undefined
for (const kind of [Counter, Gauge, Histogram]) {
  for (const method of ['inc', 'set', 'observe', 'zero']) {
    if (method in kind.prototype) Object.defineProperty(kind.prototype, method, { value: nothing })
  }
}
