import { describe, expect, it } from 'vitest'
import { negotiate, wantsAggregatedDiscovery } from './negotiate.ts'

describe('negotiate', () => {
  it.each([
    [undefined, 'json', 'object'],
    ['', 'json', 'object'],
    ['*/*', 'json', 'object'],
    ['application/yaml', 'yaml', 'object'],
    ['text/html, application/json', 'json', 'object'],
    ['application/yaml;q=0.1, application/json;q=0.5', 'json', 'object'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json', 'table'],
    ['application/json;as=Nope;v=v1;g=meta.k8s.io,application/json', 'json', 'object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'json', 'object'],
    ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'json', 'metadata'],
    ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'json', 'metadata-list'],
  ] as const)('answers %s with %s as %s', (accept, format, shape) => {
    expect(negotiate(accept)).toEqual({ format, shape })
  })

  it('refuses formats that are not served', () => {
    expect(() => negotiate('text/html')).toThrow('406: Not Acceptable')
    expect(() => negotiate('application/*')).toThrow('406: Not Acceptable')
    expect(() => negotiate('application/json;as=Table;v=v9;g=meta.k8s.io')).toThrow('only the following media types')
  })

  it('offers aggregated discovery in version v2 only', () => {
    const asked = (version: string): string =>
      `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
    expect(wantsAggregatedDiscovery(`${asked('v2')},application/json`)).toBe(true)
    expect(wantsAggregatedDiscovery(`${asked('v9')},application/json`)).toBe(false)
    expect(wantsAggregatedDiscovery(undefined)).toBe(false)
    expect(() => wantsAggregatedDiscovery(asked('v9'))).toThrow('only the following media types')
  })
})
