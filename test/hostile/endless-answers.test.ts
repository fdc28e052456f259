/** Servers that never come to an end: pages after pages, a next page at another host, a continue token without end, an object with 10,000 writers. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { listObjects, type ReadApi } from '@backporch/cluster/api-server'
import { RequestGovernor } from '@backporch/forge/adapter'
import { GiteaClient } from '@backporch/forge/gitea'
import { Agent } from 'undici'
import { realClock } from '../apiserver/live-cluster.ts'
import { expectFailure } from '../contract/git-remotes.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { editedBy } from '../fakes/live-object.ts'
import { TurnWorld, WEB } from '../fakes/turn-world.ts'
import { createGitHubFixture } from '../forge/github/github-fixture.ts'

const { signal } = new AbortController()

interface Counted {
  readonly url: string
  readonly paths: string[]
}

/** A server that answers everything alike. */
async function serve(
  t: TestContext,
  answer: {
    readonly status: number
    readonly headers: Record<string, string>
    readonly body: string
  },
): Promise<Counted> {
  const paths: string[] = []
  const server = createServer((incoming, outgoing) => {
    paths.push(incoming.url ?? '')
    outgoing
      .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      .end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

function giteaAt(url: string): GiteaClient {
  const address = { host: new URL(url).host, webUrl: url, owner: 'acme', repository: 'deploy' }
  const governor = new RequestGovernor({
    clock: realClock,
    forge: 'gitea',
  } as unknown as ConstructorParameters<typeof RequestGovernor>[0])
  return new GiteaClient({
    address,
    token: 'canary-token',
    dispatcher: new Agent(),
    governor,
    clock: realClock,
    userAgent: 'backporch/test',
  })
}

test('GitHub: ends a list whose pages always link to a next one at another host, and requests nothing there', async (t) => {
  const elsewhere = await serve(t, { status: 200, headers: {}, body: '[]' })
  const fixture = await createGitHubFixture()
  t.after(() => fixture.close())
  const forge = await fixture.forge()
  const headers = { link: `<${elsewhere.url}/repos/acme/deploy/pulls?page=2>; rel="next"` }
  fixture.emulator.faults.push({
    on: 'GET /repos/{owner}/{repo}/pulls',
    moment: 'before',
    times: 5_000,
    answer: { status: 200, headers, body: [] },
  })
  const { why } = await expectFailure(forge.readProposals('main', [], signal), 'BP5007')
  assert.equal(why, 'its list has no end')
  const asked = fixture.emulator.requests.length
  assert.ok(asked >= 500 && asked < 520, `${asked} requests`)
  assert.deepEqual(elsewhere.paths, [])
})

test('Gitea: ends an endless list whatever its link says, and requests nothing at another host', async (t) => {
  const elsewhere = await serve(t, { status: 200, headers: {}, body: '[]' })
  const headers = {
    'x-total-count': '999999999',
    link: `<${elsewhere.url}/api/v1/x?page=2>; rel="next"`,
  }
  const gitea = await serve(t, { status: 200, headers, body: '[{"id": 1}]' })
  const { why } = await expectFailure(
    giteaAt(gitea.url).list({ path: '/x', what: 'list x' }, signal) as Promise<unknown>,
    'BP5007',
  )
  assert.equal(why, 'its list has no end')
  assert.equal(gitea.paths.length, 200)
  assert.deepEqual(elsewhere.paths, [])
})

test('Gitea: does not follow a redirect of a page to another host', async (t) => {
  const elsewhere = await serve(t, { status: 200, headers: {}, body: '[]' })
  const gitea = await serve(t, {
    status: 302,
    headers: { location: `${elsewhere.url}/api/v1/x` },
    body: '',
  })
  const { why } = await expectFailure(
    giteaAt(gitea.url).list({ path: '/x', what: 'list x' }, signal) as Promise<unknown>,
    'BP5008',
  )
  assert.match(why, /another host, which is not followed: the token would go there/)
  assert.deepEqual(elsewhere.paths, [])
})

const SERVED = {
  apiVersion: 'v1',
  group: '',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
  verbs: ['list'],
}

test('API server: ever new continue tokens end as an incomplete list, and a repeated one ends at once', async () => {
  for (const [next, most] of [
    [(page: number) => `token-${page}`, 20_002],
    [() => 'token', 2],
  ] as const) {
    let pages = 0
    const get = async () => {
      pages += 1
      const metadata = { resourceVersion: '1', continue: next(pages) }
      return {
        status: 200,
        headers: new Headers({ 'content-type': 'application/json' }),
        body: JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata, items: [] }),
      }
    }
    const api = { cluster: 'prod', get } as unknown as ReadApi
    const { why } = await expectFailure(
      listObjects(api, SERVED, { namespace: '', take: () => {}, restart: () => {} }, signal),
      'BP3010',
    )
    assert.match(why, /its pages go round in a circle/)
    assert.ok(pages <= most, `${pages} pages`)
  }
})

test('compares an object with 10,000 entries of managedFields, and knows the writer of each change', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.cluster.change(WEB, (live) => {
    const edited = editedBy('kubectl-edit', live, 'spec.replicas', 6)
    const metadata = edited['metadata'] as { managedFields: unknown[] }
    const entries = Array.from({ length: 10_000 }, (_each, index) => ({
      manager: `writer-${index}`,
      operation: 'Update',
      apiVersion: 'apps/v1',
      time: '2026-11-21T10:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:a-${index}`]: {} } } },
    }))
    return {
      ...edited,
      metadata: { ...metadata, managedFields: [...metadata.managedFields, ...entries] },
    } as typeof live
  })
  const { code, stdout } = await runInWorld(world, ['diff'])
  assert.equal(code, 1)
  assert.match(stdout, /spec\.replicas +3 → 6 +kubectl-edit/)
})
