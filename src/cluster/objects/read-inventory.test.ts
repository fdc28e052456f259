import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  listOf,
  type Routes,
  scriptedApi,
  statusAnswer,
} from '../../../test/apiserver/scripted-api.ts'

const signal = new AbortController().signal
const ALL = 'GET /apis/kpt.dev/v1alpha1/resourcegroups'
const TEAMS = ['a', 'b', 'c', 'd']
const refs = TEAMS.map((team) => ({
  namespace: `team-${team}`,
  name: 'inventory',
  id: `id-${team}`,
}))

const groupOf = (team: string, name = 'inventory') => ({
  metadata: {
    name,
    namespace: `team-${team}`,
    labels: { 'cli-utils.sigs.k8s.io/inventory-id': `id-${team}` },
  },
  spec: {
    resources: [{ group: 'apps', kind: 'Deployment', namespace: `team-${team}`, name: 'web' }],
  },
})

const list = (items: readonly object[]) => ({
  body: { ...(listOf('ResourceGroup', []) as object), items },
})

test('reads the inventories of many packages with one list', async (t) => {
  const api = await scriptedApi(t, {
    [ALL]: () => list([groupOf('a'), groupOf('b', 'renamed'), groupOf('x')]),
  })
  const answers = await api.cluster.readInventories(refs, signal)
  assert.deepEqual(
    answers.map((answer) => (answer instanceof Failure ? answer.code : answer?.source)),
    ['ResourceGroup team-a/inventory', 'ResourceGroup team-b/renamed', undefined, undefined],
  )
  assert.deepEqual(api.requested(), [`${ALL}?limit=500`])
})

test('without cluster-wide list permission, lists per namespace and reports the forbidden ones', async (t) => {
  const routes: Record<string, Routes[string]> = {
    [ALL]: () => statusAnswer(403, 'Forbidden', 'not in all namespaces'),
  }
  for (const team of TEAMS)
    routes[`GET /apis/kpt.dev/v1alpha1/namespaces/team-${team}/resourcegroups`] = () =>
      team === 'c' ? statusAnswer(403, 'Forbidden', 'not here') : list([groupOf(team)])
  const api = await scriptedApi(t, routes)
  const answers = await api.cluster.readInventories(refs, signal)
  assert.deepEqual(
    answers.map((answer) => (answer instanceof Failure ? answer.code : answer?.source)),
    [
      'ResourceGroup team-a/inventory',
      'ResourceGroup team-b/inventory',
      'BP3003',
      'ResourceGroup team-d/inventory',
    ],
  )
})

test('reports a list that fails otherwise for each inventory', async (t) => {
  const down = await scriptedApi(t, { [ALL]: () => statusAnswer(400, 'BadRequest', 'not today') })
  const answers = await down.cluster.readInventories(refs, signal)
  assert.deepEqual(
    answers.map((answer) => answer instanceof Failure),
    [true, true, true, true],
  )
  assert.deepEqual(await down.cluster.readInventories([], signal), [])
})
