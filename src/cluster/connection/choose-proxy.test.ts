import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseProxy } from './choose-proxy.ts'

function proxyOf(server: string, environment: Record<string, string>, configured?: string): string {
  const proxy = chooseProxy(new URL(server), configured, environment)
  return proxy === undefined ? 'direct' : 'problem' in proxy ? proxy.problem : proxy.href
}

const PROXY = { HTTPS_PROXY: 'http://proxy.example:3128' }
const VIA = 'http://proxy.example:3128/'

test('https uses HTTPS_PROXY, in either case, with or without a scheme', () => {
  assert.equal(proxyOf('https://api.example:6443', PROXY), VIA)
  assert.equal(proxyOf('https://api.example:6443', { https_proxy: 'proxy.example:3128' }), VIA)
  assert.equal(
    proxyOf('https://api.example:6443', { HTTP_PROXY: 'http://proxy.example:3128' }),
    'direct',
  )
})

test('the proxy of the kubeconfig takes precedence, also over NO_PROXY', () => {
  assert.equal(
    proxyOf('https://api.example', { ...PROXY, NO_PROXY: '*' }, 'http://own.example:1'),
    'http://own.example:1/',
  )
})

test('loopback addresses never use a proxy', () => {
  for (const host of ['localhost', '127.0.0.1', '127.5.5.5', '[::1]'])
    assert.equal(proxyOf(`https://${host}:6443`, PROXY), 'direct', host)
})

const cases: readonly (readonly [string, string, 'direct' | 'proxied'])[] = [
  ['*', 'https://api.example', 'direct'],
  ['api.example', 'https://api.example', 'direct'],
  ['example', 'https://api.example', 'direct'],
  ['.example', 'https://api.example', 'direct'],
  ['*.example', 'https://api.example', 'direct'],
  ['.example', 'https://example', 'proxied'],
  ['ample', 'https://api.example', 'proxied'],
  ['other, api.example ', 'https://api.example', 'direct'],
  ['api.example:6443', 'https://api.example:6443', 'direct'],
  ['api.example:6443', 'https://api.example', 'proxied'],
  ['api.example:443', 'https://api.example', 'direct'],
  ['10.0.0.0/8', 'https://10.1.2.3:6443', 'direct'],
  ['10.0.0.0/8', 'https://11.1.2.3:6443', 'proxied'],
  ['10.0.0.0/99', 'https://10.1.2.3:6443', 'proxied'],
  ['fd00::/8', 'https://[fd12::1]:6443', 'direct'],
  ['10.1.2.3', 'https://10.1.2.3:6443', 'direct'],
  ['', 'https://api.example', 'proxied'],
]
for (const [list, server, expected] of cases) {
  test(`NO_PROXY=${JSON.stringify(list)}: ${server} is ${expected}`, () => {
    assert.equal(
      proxyOf(server, { ...PROXY, NO_PROXY: list }),
      expected === 'direct' ? 'direct' : VIA,
    )
  })
}

test('reports an unusable proxy without its text, which may contain a password', () => {
  assert.equal(
    proxyOf('https://api.example', { HTTPS_PROXY: 'http://user:pass@ bad' }),
    'HTTPS_PROXY is not a URL',
  )
  assert.equal(
    proxyOf('https://api.example', {}, 'ftp://user:pass@x'),
    'proxy-url has the scheme ftp:, wanted http, https or socks5',
  )
})
