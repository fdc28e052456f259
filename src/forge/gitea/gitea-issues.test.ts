import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Agent } from 'undici'
import { systemClock } from '../../adapters/system/system-clock.ts'
import { parseForgeAddress } from '../adapter/forge-address.ts'
import { RequestGovernor } from '../adapter/request-governor.ts'
import { addTopic } from '../adapter/topic-marker.ts'
import { GiteaClient } from './gitea-client.ts'
import { GiteaIssues } from './gitea-issues.ts'
import { GiteaLabels } from './gitea-labels.ts'

const { signal } = new AbortController()
const SELF = 'backporch-bot'
const WANTED = { topic: 'dashboard', title: 'Drift dashboard', body: 'text', labels: [] }

/** As much of Gitea's lists of issues as is asked here, by a server that ignores the filter `created_by`. */
async function issuesOf(authors: readonly string[]) {
  const issues = authors.map((login, at) => issueOf(at + 1, login))
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://host')
    if (request.method === 'POST') issues.push(issueOf(issues.length + 1, SELF))
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        request.method === 'GET'
          ? issues.slice((Number(searchParams.get('page')) - 1) * 50)
          : issues.at(-1),
      ),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = parseForgeAddress(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/deploy.git`,
  )
  const dispatcher = new Agent()
  const governor = new RequestGovernor({
    forge: 'Gitea',
    clock: systemClock,
    longestWait: 0,
    writesPerMinute: 60,
    writesPerHour: 60,
  })
  const client = new GiteaClient({
    address: address ?? assert.fail(),
    token: 't',
    dispatcher,
    governor,
    clock: systemClock,
    userAgent: 'backporch/0',
  })
  const close = async (): Promise<void> => {
    await dispatcher.destroy()
    server.closeAllConnections()
    server.close()
  }
  return { issues, ours: new GiteaIssues(client, new GiteaLabels(client), async () => SELF), close }
}

function issueOf(number: number, login: string) {
  return {
    number,
    title: WANTED.title,
    body: addTopic(WANTED.topic, WANTED.body),
    state: 'open',
    html_url: '',
    user: { login },
    labels: [],
  }
}

test('ignores an issue of another author, even when the server ignores the filter', async () => {
  const { issues, ours, close } = await issuesOf(['wendy'])
  try {
    assert.equal(await ours.read(WANTED.topic, signal), undefined)
    for (let time = 0; time < 3; time += 1)
      assert.equal((await ours.ensure(WANTED, signal)).number, 2)
    assert.deepEqual(
      issues.map(({ user }) => user.login),
      ['wendy', SELF],
    )
  } finally {
    await close()
  }
})
