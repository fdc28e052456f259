/** Imports nothing, so that a process without traces loads nothing. */
export interface TraceSettings {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, string>>
  readonly version: string
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

type Environment = { readonly [name: string]: string | undefined }

/** Undefined without an endpoint or if turned off. `problem` omits the address. */
export function traceSettings(
  env: Environment,
  version: string,
): TraceSettings | { readonly problem: string } | undefined {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim()
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim()
  const url = own || (base ? `${base.replace(/\/+$/, '')}/v1/traces` : undefined)
  const isOff = env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true'
  const exporters = (env['OTEL_TRACES_EXPORTER'] || 'otlp').split(',').map((name) => name.trim())
  if (url === undefined || isOff || !exporters.includes('otlp')) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    return { problem: 'the endpoint is not an address with http or https' }
  const headers = {
    ...parsePairs(env['OTEL_EXPORTER_OTLP_HEADERS']),
    ...parsePairs(env['OTEL_EXPORTER_OTLP_TRACES_HEADERS']),
  }
  if (
    Object.entries(headers).some(
      ([name, value]) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(value),
    )
  )
    return { problem: 'a header has characters that HTTP does not allow' }
  const resource = parsePairs(env['OTEL_RESOURCE_ATTRIBUTES'])
  const name = env['OTEL_SERVICE_NAME']?.trim() || resource['service.name'] || 'backporch'
  return {
    url,
    headers,
    resource: { 'service.version': version, ...resource, 'service.name': name },
    version,
  }
}

/** Percent-encoded values. Invalid parts are skipped. */
function parsePairs(text = ''): Record<string, string> {
  return Object.fromEntries(
    text.split(',').flatMap((part) => {
      const at = part.indexOf('=')
      const key = part.slice(0, at).trim()
      return at < 1 || key === '' ? [] : [[key, decodePart(part.slice(at + 1).trim())]]
    }),
  )
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
