import assert from 'node:assert/strict'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { GITHUB } from '@backporch/forge/github'
import {
  expectFailure,
  makeTestRepository,
  REMOTE_KINDS,
  type TestRepository,
  TOKEN,
} from '../../../test/contract/git-remotes.ts'
import { encodePktLine, FLUSH } from '../protocol/pkt-line.ts'
import { probePush } from './probe-push.ts'

const REFS = [
  'refs/heads/drafts/backporch-check/drift-check',
  'refs/heads/drift-ledger',
  'refs/tags/backporch-check/v0',
]
const { signal } = new AbortController()

async function probe(fixture: TestRepository, refs: readonly string[] = REFS, token = TOKEN) {
  const { remote, root, environment } = fixture
  return probePush(
    {
      remote,
      workingDirectory: root,
      environment,
      ...(fixture.backend === undefined ? {} : { token }),
    },
    'main',
    refs,
    signal,
  )
}

function hook(fixture: TestRepository, name: string, script: string): void {
  const folder = fixture.git('rev-parse', '--absolute-git-dir')
  const path = join(folder, 'hooks', name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

for (const kind of REMOTE_KINDS) {
  describe(`probePush, ${kind}`, () => {
    it('finds the permitted refs, and leaves no trace', async () => {
      const fixture = await makeTestRepository(kind)
      try {
        hook(fixture, 'post-receive', `touch '${join(fixture.root, 'received')}'`)
        const before = fixture.git('for-each-ref')
        assert.deepEqual(
          (await probe(fixture)).map(({ answer }) => answer),
          ['let-through', 'let-through', 'let-through'],
        )
        assert.equal(fixture.git('for-each-ref'), before)
        assert.ok(!existsSync(join(fixture.root, 'received')), 'nothing was received')
      } finally {
        await fixture.close()
      }
    })

    it('reports ref by ref what each of the two hooks rejects', async () => {
      for (const [name, script] of [
        [
          'pre-receive',
          'grep -q refs/heads/drafts/ && { echo "no drafts here" >&2; exit 1; }; exit 0',
        ],
        ['update', 'case "$1" in refs/heads/drafts/*) echo "no drafts here" >&2; exit 1;; esac'],
      ] as const) {
        const result = await makeTestRepository(kind)
        try {
          hook(result, name, script)
          const [drafts, ledger, tags] = await probe(result)
          assert.equal(drafts?.answer, 'refused', name)
          // A clone's hooks are not run, so nothing is pushed to it at all.
          const clone = kind === 'local with work tree'
          assert.match(drafts?.why ?? '', clone ? /hooks of a clone are not run/ : /hook declined/)
          const others = clone ? 'refused' : 'let-through'
          assert.deepEqual([ledger?.answer, tags?.answer], [others, others], name)
        } finally {
          await result.close()
        }
      }
    })
  })
}

it('moves no existing ref, and cannot judge one that points to the base commit', async () => {
  const fixture = await makeTestRepository('local bare')
  try {
    fixture.git('update-ref', 'refs/heads/drift-ledger', 'main~1')
    fixture.git('update-ref', 'refs/heads/drafts/backporch-check/drift-check', 'main')
    const before = fixture.git('for-each-ref')
    const answers = await probe(fixture)
    assert.deepEqual(
      answers.map(({ answer }) => answer),
      ['unclear', 'let-through', 'let-through'],
    )
    assert.equal(fixture.git('for-each-ref'), before)
  } finally {
    await fixture.close()
  }
})

it('interprets only GitHub texts with a known meaning', async () => {
  const base = 'a'.repeat(40)
  const ref = 'refs/heads/drafts/backporch-check/drift-check'
  const answerTo = async (agent: string, unpacked: string, reason: string | undefined) => {
    const lines = [
      `unpack ${unpacked}\n`,
      reason === undefined ? `ok ${ref}\n` : `ng ${ref} ${reason}\n`,
    ]
    const report = Buffer.concat([...lines.map((line) => encodePktLine(line)), FLUSH])
    const reported = [
      encodePktLine('# service=git-receive-pack\n'),
      FLUSH,
      encodePktLine(`${base} refs/heads/main\0report-status agent=${agent}\n`),
      FLUSH,
    ]
    const server = createServer((request, response) => {
      request.resume()
      const [type, body] =
        request.method === 'GET' ? ['advertisement', Buffer.concat(reported)] : ['result', report]
      response
        .writeHead(200, { 'content-type': `application/x-git-receive-pack-${type}` })
        .end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const remote = `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/deploy.git`
      const options = {
        remote,
        workingDirectory: '/',
        environment: { HOME: '/nowhere' },
        token: 'x',
        serverTexts: [GITHUB.pushTexts],
      }
      const [one] = await probePush(options, 'main', [ref], signal)
      return one
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  const github = 'git/github-a2dc5c1d0a34'
  for (const [reason, wanted] of [
    [`cannot lock ref '${ref}': is at ${'b'.repeat(40)} but expected ${base}`, 'let-through'],
    [`cannot lock ref '${ref}': unable to resolve reference '${ref}'`, 'let-through'],
    ['failed to update ref', 'let-through'],
    ['push declined due to repository rule violations', 'refused'],
    ['protected branch hook declined', 'refused'],
    ['pre-receive hook declined', 'refused'],
    [`cannot lock ref '${ref}': 'refs/heads/drafts' exists; cannot create '${ref}'`, 'unclear'],
    ['something that nobody has seen yet', 'unclear'],
    [undefined, 'unclear'],
  ] as const) {
    const found = await answerTo(github, 'ok', reason)
    assert.equal(found?.answer, wanted, reason)
    if (wanted !== 'let-through') assert.notEqual(found?.why, '', reason)
  }
  assert.equal(
    (await answerTo(github, 'index-pack abnormal exit', 'unpacker error'))?.answer,
    'unclear',
  )
  assert.equal(
    (await answerTo('git/2.39.5', 'ok', 'something that nobody has seen yet'))?.answer,
    'refused',
    'git itself says why',
  )
})

it('reports that the server does not know the credentials', async () => {
  const fixture = await makeTestRepository('http')
  try {
    const failure = await expectFailure(probe(fixture, REFS, 'wrong'), 'BP4005')
    assert.doesNotMatch(JSON.stringify(failure), /wrong/)
  } finally {
    await fixture.close()
  }
})
