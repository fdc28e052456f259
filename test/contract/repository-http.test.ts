/** What servers answer: credentials, redirects, faults on the way, and answers that are lost. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRepository } from '@backporch/git-store/repository'
import { parseObjectId } from '@backporch/kyaml/files'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type TestRepository,
  TOKEN,
} from './git-remotes.ts'

const { signal } = new AbortController()
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'
const LEDGER = 'refs/heads/drift-ledger'

type Fault = (
  request: IncomingMessage,
  response: ServerResponse,
  moment: 'before' | 'after',
) => boolean

const withRepository = (
  name: string,
  body: (fixture: TestRepository, setFault: (fault: Fault) => void) => Promise<void>,
) =>
  test(name, async () => {
    let fault: Fault = () => false
    const result = await makeTestRepository('http', (...args) => fault(...args))
    try {
      await body(result, (next) => {
        fault = next
      })
    } finally {
      await result.close()
    }
  })

/** Answers, and says that nobody else needs to. */
const reply = (
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
  body = '',
): true => {
  response.writeHead(status, headers).end(body)
  return true
}

const hangUp = (response: ServerResponse): true => {
  response.socket?.destroy()
  return true
}

const isPush = (request: IncomingMessage) =>
  request.method === 'POST' && request.url?.endsWith('/git-receive-pack') === true

withRepository(
  'credentials that are wrong or missing are told, and never shown',
  async (fixture) => {
    const { remote, cacheDir, environment } = fixture
    await expectFailure(
      openRepository({ remote, cacheDir, environment, token: 'canary-wrong' }).listRefs(signal),
      'BP4005',
    )
    const { why } = await expectFailure(
      openRepository({ remote, cacheDir, environment }).listRefs(signal),
      'BP4005',
    )
    assert.match(why, /no credentials are known/)
    const withUser = remote.replace('://', '://bot:canary-wrong@')
    const repository = openRepository({ remote: withUser, cacheDir, environment, token: TOKEN })
    assert.equal(repository.remote, remote)
    await expectFailure(repository.listRefs(signal), 'BP4005')
  },
)

withRepository('credentials come from the address or from the user’s own git', async (fixture) => {
  const { remote, cacheDir, environment } = fixture
  const inAddress = openRepository({
    remote: remote.replace('://', `://bot:${TOKEN}@`),
    cacheDir,
    environment,
  })
  assert.equal((await inAddress.listRefs(signal)).defaultBranch, 'main')
  assert.equal(inAddress.remote, remote)
  const helper = {
    ...environment,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'credential.helper',
    GIT_CONFIG_VALUE_0: `!f() { test "$1" = get && echo username=bot && echo password=${TOKEN}; }; f`,
  }
  const repository = openRepository({ remote, cacheDir, environment: helper })
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  await repository.push([{ ref: DRAFT, from: null, to }], signal)
  assert.equal(fixture.git('rev-parse', DRAFT), to)
})

withRepository('each kind of answer has its own failure', async (fixture, setFault) => {
  for (const [status, code] of [
    [403, 'BP4005'],
    [404, 'BP1002'],
    [429, 'BP4001'],
    [500, 'BP4001'],
    [502, 'BP4001'],
    [413, 'BP4002'],
  ] as const) {
    setFault((request, response, moment) => {
      if (moment === 'before')
        response
          .writeHead(status, { 'content-type': 'text/plain' })
          .end(`no: ${request.headers.authorization} ${TOKEN}`)
      return true
    })
    const { why } = await expectFailure(openTestRepository(fixture).listRefs(signal), code)
    assert.match(
      why,
      /no: Basic \*\*\* \*\*\*/,
      'the server’s text is shown without the secrets in it',
    )
  }
  setFault((_request, response) =>
    reply(response, 200, { 'content-type': 'text/html' }, '<html>Sign in</html>'),
  )
  await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP1002')
  setFault((_request, response) =>
    reply(
      response,
      200,
      { 'content-type': 'application/x-git-upload-pack-advertisement' },
      '<html>',
    ),
  )
  await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP4001')
  setFault((_request, response) => hangUp(response))
  await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP4001')
  setFault(() => true)
  const { why } = await expectFailure(
    openTestRepository(fixture, { limits: { silence: 1000 } }).listRefs(signal),
    'BP4001',
  )
  assert.match(why, /no answer for 1 s/)
  setFault((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
      .write('001e# service')
    return true
  })
  assert.match(
    (
      await expectFailure(
        openTestRepository(fixture, { limits: { silence: 1000 } }).listRefs(signal),
        'BP4001',
      )
    ).why,
    /no byte for 1 s/,
  )
  setFault(() => false)
  await expectFailure(
    openTestRepository(fixture, { limits: { bytes: 50 } }).listRefs(signal),
    'BP4001',
  )
  await fixture.backend?.close()
  const refused = await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP4001')
  assert.match(refused.why, /^the connection failed \((ECONNREFUSED|UND_ERR_SOCKET)\)$/)
  assert.equal(refused.retry, 'backoff')
})

withRepository(
  'a refusal whose text never ends is told with what came',
  async (fixture, setFault) => {
    setFault((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).write('out of order')
      return true
    })
    const { why } = await expectFailure(
      openTestRepository(fixture, { limits: { silence: 500 } }).listRefs(signal),
      'BP4001',
    )
    assert.equal(why, 'the server answered 500: out of order')
    setFault((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      const more = setInterval(() => response.write('x'.repeat(100_000)), 1)
      response.once('close', () => clearInterval(more))
      return true
    })
    const endless = await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP4001')
    assert.match(endless.why, /^the server answered 500: x+…?$/)
  },
)

withRepository(
  'reports a server that answers slowly, and one with too many branches',
  async (fixture, setFault) => {
    const listing = (send: (response: ServerResponse) => void) =>
      setFault((request, response, moment) => {
        if (moment === 'after' || request.url?.includes('info/refs') !== true) return false
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        send(response)
        return true
      })
    const refLine = (name: string): string =>
      `${(name.length + 46).toString(16).padStart(4, '0')}${'1'.repeat(40)} ${name}\n`
    listing((response) => {
      response.write('001e# service=git-upload-pack\n0000')
      let sent = 0
      const drip = setInterval(
        () =>
          ++sent > 1000 ? response.end('0000') : response.write(refLine(`refs/heads/b${sent}`)),
        5,
      )
      response.once('close', () => clearInterval(drip))
    })
    const limits = { deadline: (received: number) => 200 + received / 1000 }
    const { why } = await expectFailure(
      openTestRepository(fixture, { limits }).listRefs(signal),
      'BP4001',
    )
    assert.match(why, /^only \d+ bytes came in \d+ s$/)
    listing((response) => {
      const names = Array.from({ length: 600 }, (_, index) =>
        refLine(`refs/heads/${'x'.repeat(60_000)}${index}`),
      )
      response.end(`001e# service=git-upload-pack\n0000${names.join('')}0000`)
    })
    const many = await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP4010')
    assert.match(many.why, /^the names of its branches and tags have more than 32 MiB$/)
  },
)

withRepository(
  'a redirect is followed on the same server, and the token never goes to another',
  async (fixture, setFault) => {
    const observed: string[] = []
    const other = createServer((request, response) => {
      observed.push(String(request.headers.authorization))
      response.end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const redirectTo = (base: string) => (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.startsWith('/old.git') !== true) return false
      response
        .writeHead(301, { location: base + request.url.replace('/old.git', '/repo.git') })
        .end()
      return true
    }
    const remote = fixture.remote.replace('/repo.git', '/old.git')
    try {
      setFault(redirectTo(''))
      const repository = openTestRepository(fixture, { remote })
      const base = await headOf(repository, signal)
      const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
      await repository.push([{ ref: DRAFT, from: null, to }], signal)
      assert.equal(fixture.git('rev-parse', DRAFT), to)
      const { port } = other.address() as AddressInfo
      setFault(redirectTo(`http://127.0.0.1:${port}`))
      const { why } = await expectFailure(
        openTestRepository(fixture, { remote }).listRefs(signal),
        'BP4001',
      )
      assert.match(why, new RegExp(`redirects to http://127.0.0.1:${port}/repo.git/info/refs`))
      assert.deepEqual(observed, [])
      setFault((_request, response) =>
        reply(response, 302, { location: `${fixture.remote}/info/refs?service=git-upload-pack` }),
      )
      assert.match(
        (await expectFailure(openTestRepository(fixture).listRefs(signal), 'BP4001')).why,
        /circle/,
      )
    } finally {
      other.close()
    }
  },
)

withRepository(
  'a push whose answer is lost is done when the refs say so',
  async (fixture, setFault) => {
    const repository = openTestRepository(fixture)
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    setFault(
      (request, response, moment) => isPush(request) && moment === 'after' && hangUp(response),
    )
    await repository.push([{ ref: DRAFT, from: null, to }], signal)
    assert.equal(fixture.git('rev-parse', DRAFT), to)
    setFault(
      (request, response, moment) => isPush(request) && moment === 'after' && reply(response, 504),
    )
    await repository.push([{ ref: LEDGER, from: null, to }], signal)
    assert.equal(fixture.git('rev-parse', LEDGER), to)
  },
)

withRepository(
  'a push that never arrived can be repeated, and one that met another is told so',
  async (fixture, setFault) => {
    const repository = openTestRepository(fixture)
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    const update = { ref: DRAFT, from: null, to }
    setFault(
      (request, response, moment) => isPush(request) && moment === 'before' && hangUp(response),
    )
    await expectFailure(repository.push([update], signal), 'BP4001')
    assert.equal(fixture.git('for-each-ref', DRAFT), '')
    setFault((request, _response, moment) => {
      if (isPush(request) && moment === 'before') fixture.git('update-ref', DRAFT, base)
      return false
    })
    await expectFailure(repository.push([update], signal), 'BP4003')
    assert.equal(fixture.git('rev-parse', DRAFT), base, 'the other’s commit is still there')
  },
)

withRepository(
  'a pack that breaks off is no pack, and the next try reads on',
  async (fixture, setFault) => {
    const repository = openTestRepository(fixture)
    const head = await headOf(repository, signal)
    setFault((request, response, moment) => {
      if (request.method !== 'POST' || moment === 'before') return false
      response
        .writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
        .write('0008NAK\n0100\u0001PACK')
      setTimeout(() => response.destroy(), 20)
      return true
    })
    await expectFailure(repository.commit(head, signal), 'BP4001')
    setFault(() => false)
    assert.equal((await repository.commit(head, signal)).id, head)
  },
)

withRepository(
  'a branch that was rewritten after it was read does not stop reading',
  async (fixture) => {
    const repository = openTestRepository(fixture)
    const before = (await repository.listRefs(signal)).refs.get(
      'refs/heads/drafts/apps/web/drift-0',
    )
    const head = fixture.git('rev-parse', 'main')
    fixture.git(
      'update-ref',
      'refs/heads/drafts/apps/web/drift-0',
      fixture.git('commit-tree', '-m', 'Rewritten', 'main^{tree}'),
    )
    assert.equal((await repository.commit(parseObjectId(head), signal)).id, head)
    assert.equal((await repository.commit(parseObjectId(before ?? ''), signal)).id, before)
  },
)

withRepository(
  'one new commit costs two requests, however many branches there are',
  async (fixture) => {
    const repository = openTestRepository(fixture)
    for (const id of (await repository.listRefs(signal)).refs.values())
      await repository.list(id, '', signal)
    for (let at = 0; at < 20; at++)
      fixture.git(
        'update-ref',
        `refs/heads/proposed/apps/web/drift-${at}`,
        fixture.git('commit-tree', '-p', 'main', '-m', `n ${at}`, 'main^{tree}'),
      )
    const before = fixture.backend?.requests.length ?? 0
    const { refs } = await repository.listRefs(signal)
    for (const [name, id] of refs) {
      if (name.startsWith('refs/heads/')) await repository.list(id, '', signal)
    }
    assert.deepEqual(fixture.backend?.requests.slice(before), [
      'POST /repo.git/git-upload-pack',
      'POST /repo.git/git-upload-pack',
    ])
  },
)

withRepository(
  'a server without the credentials of reading sees the same failure on pushing',
  async (fixture, setFault) => {
    const repository = openTestRepository(fixture)
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    setFault(
      (request, response) => request.url?.includes('receive-pack') === true && reply(response, 403),
    )
    await expectFailure(repository.push([{ ref: DRAFT, from: null, to }], signal), 'BP4005')
    setFault((request, response) => isPush(request) && reply(response, 401))
    await expectFailure(repository.push([{ ref: DRAFT, from: null, to }], signal), 'BP4005')
    assert.equal(fixture.git('for-each-ref', DRAFT), '')
    assert.equal(fixture.git('rev-parse', '--git-dir'), '.', join(fixture.root, 'repo.git'))
  },
)
