import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedApi, statusAnswer } from '../../../test/apiserver/scripted-api.ts'

const { signal } = new AbortController()
const kind = (name: string) => ({
  type: 'object',
  'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: name }],
})

test('finds a kind added after the index was read, although the server redirects from the old document', async (t) => {
  let hash = 'one'
  const resources = ['gadgets', 'widgets'].map((name) => ({
    resource: name,
    responseKind: {
      group: 'example.com',
      version: 'v1',
      kind: name === 'gadgets' ? 'Gadget' : 'Widget',
    },
    scope: 'Namespaced',
    verbs: ['list'],
  }))
  const discovery = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: [{ metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] }],
  }
  const document = (of: string) => () =>
    of === hash
      ? {
          body: {
            openapi: '3.0.0',
            components: {
              schemas: {
                Gadget: kind('Gadget'),
                ...(of === 'two' ? { Widget: kind('Widget') } : {}),
              },
            },
          },
        }
      : statusAnswer(301, 'Moved', 'it has another hash now')
  const api = await scriptedApi(t, {
    'GET /api': () => ({ body: { ...discovery, items: [] } }),
    'GET /apis': () => ({ body: discovery }),
    'GET /openapi/v3': () => ({
      body: {
        paths: {
          'apis/example.com/v1': { serverRelativeURL: `/openapi/v3/apis/example.com/v1/${hash}` },
        },
      },
    }),
    'GET /openapi/v3/apis/example.com/v1/one': document('one'),
    'GET /openapi/v3/apis/example.com/v1/two': document('two'),
  })
  const index = () => api.requested().filter((line) => line === 'GET /openapi/v3').length
  // The index is read, and its document is not: nobody asked for a kind of it yet.
  await assert.rejects(api.cluster.openApiDocument('other.example.com/v1', signal))
  const before = index()
  hash = 'two'
  const { namespaced } = await api.cluster.findServedKind('example.com/v1', 'Widget', signal)
  assert.equal(namespaced, true)
  assert.equal(index(), before + 1)
})
