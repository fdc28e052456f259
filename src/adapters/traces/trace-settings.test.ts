import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TraceSettings, traceSettings } from './trace-settings.ts'

function settingsOf(env: Readonly<Record<string, string>>): TraceSettings {
  const settings = traceSettings(env, '1.2.3')
  assert.ok(settings !== undefined && !('problem' in settings))
  return settings
}

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

test('tracing is off without an endpoint, or when OpenTelemetry or its traces exporter is disabled', () => {
  assert.equal(traceSettings({}, '1.2.3'), undefined)
  assert.equal(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, '1.2.3'), undefined)
  assert.equal(traceSettings({ ...BASE, OTEL_SDK_DISABLED: 'TRUE' }, '1.2.3'), undefined)
  assert.equal(traceSettings({ ...BASE, OTEL_TRACES_EXPORTER: 'none' }, '1.2.3'), undefined)
  assert.notEqual(
    traceSettings(
      { ...BASE, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'console,otlp' },
      '1.2.3',
    ),
    undefined,
  )
})

test('the traces endpoint is used as given; the general endpoint gets the path of traces', () => {
  assert.equal(settingsOf(BASE).url, 'http://collector:4318/v1/traces')
  assert.equal(
    settingsOf({ ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/x' }).url,
    'http://other/x',
  )
})

test('headers, service name and attributes come from the environment', () => {
  const settings = settingsOf({
    ...BASE,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-a=1,broken,=no',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-a=2',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=prod,bad=%',
    OTEL_SERVICE_NAME: 'drift',
  })
  assert.deepEqual(settings.headers, { authorization: 'Bearer abc', 'x-a': '2' })
  assert.deepEqual(settings.resource, {
    'service.version': '1.2.3',
    'service.name': 'drift',
    'deployment.environment.name': 'prod',
    bad: '%',
  })
  assert.equal(settingsOf(BASE).resource['service.name'], 'backporch')
})

test('an invalid endpoint or header is a problem whose text quotes neither', () => {
  assert.deepEqual(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'canary' }, ''), {
    problem: 'the endpoint is not an address with http or https',
  })
  for (const headers of ['a=canary%0Ab', 'a b=canary'])
    assert.deepEqual(traceSettings({ ...BASE, OTEL_EXPORTER_OTLP_HEADERS: headers }, ''), {
      problem: 'a header has characters that HTTP does not allow',
    })
})
