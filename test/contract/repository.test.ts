/** The contract of `PackageRepository`, held by every kind of remote against the real git. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { DEFAULT_BRANCH, type PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { parseObjectId } from '@backporch/kyaml/files'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  REMOTE_KINDS,
  type TestRepository,
  TOKEN,
} from './git-remotes.ts'

const { signal } = new AbortController()
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'
const PROPOSED = 'refs/heads/proposed/apps/web/drift-1'
const LEDGER = 'refs/heads/drift-ledger'
const MAIN = 'refs/heads/main'
const AT = 1_700_000_500

for (const kind of REMOTE_KINDS) {
  describe(`a repository by ${kind}`, () => {
    const withRepository = (
      name: string,
      body: (repository: PackageRepository, fixture: TestRepository) => Promise<void>,
    ) =>
      test(name, async () => {
        const result = await makeTestRepository(kind)
        try {
          await body(openTestRepository(result), result)
        } finally {
          await result.close()
        }
      })

    withRepository(
      'names its branches and tags, annotated tags by their commit, and the default branch',
      async (repository, built) => {
        const { defaultBranch, refs } = await repository.listRefs(signal)
        const expected = built.git(
          'for-each-ref',
          '--format=%(refname) %(objectname) %(*objectname)',
          'refs/heads',
          'refs/tags',
        )
        assert.equal(defaultBranch, 'main')
        assert.deepEqual(
          [...refs].map(([name, id]) => `${name} ${id}`).sort(),
          expected
            .split('\n')
            .map((line) => line.replace(/ [0-9a-f]{40} ([0-9a-f]{40})$/, ' $1').trim())
            .sort(),
        )
        assert.equal(refs.size, 5)
      },
    )

    withRepository('reads commits, lists folders and reads files', async (repository, outcome) => {
      const head = await headOf(repository, signal)
      const second = await repository.commit(head, signal)
      assert.equal(second.message, 'Second\n\nWith a body.\n')
      assert.deepEqual(second.author, { name: 'Ada', email: 'ada@example.com', at: 1_700_000_000 })
      assert.equal(second.tree, outcome.git('rev-parse', 'main^{tree}'))
      const [parent] = second.parents
      assert.ok(parent !== undefined)
      assert.equal((await repository.commit(parent, signal)).message, 'First\n')

      const all = await repository.list(head, '', signal)
      const expected = outcome.git(
        'ls-tree',
        '-r',
        '--full-tree',
        '--format=%(objectmode) %(objectname) %(path)',
        'main',
      )
      assert.equal(
        all.map((file) => `${file.mode} ${file.id} ${file.path}`).join('\n'),
        sortByPath(expected),
      )
      const web = await repository.list(head, 'apps/web', signal)
      assert.deepEqual(
        web.map((file) => `${file.mode} ${file.path}`),
        ['100644 Kptfile', '100755 bin/run.sh', '100644 deploy.yaml', '120000 link.yaml'],
      )
      const [single] = await repository.list(head, 'apps/web/deploy.yaml', signal)
      assert.equal(single?.path, '')
      for (const path of ['apps/none', 'README.md/x', 'apps/web/deploy.yaml/x', '..', '/']) {
        assert.deepEqual(await repository.list(head, path, signal), [], path)
      }
      const contents = await repository.read(
        [parseObjectId(single?.id ?? ''), parseObjectId(single?.id ?? '')],
        signal,
      )
      assert.deepEqual(
        [...contents.values()].map((bytes) => Buffer.from(bytes).toString()),
        ['replicas: 3\n'],
      )
    })

    withRepository(
      'makes the commit that git commit-tree makes, and git accepts it',
      async (repository, fixture) => {
        const base = await headOf(repository, signal)
        const draft = changeOf(base, {
          'apps/web/deploy.yaml': 'replicas: 4\n',
          'apps/web/bin/run.sh': '#!/bin/bash\n',
          'apps/web/new/a.yaml': 'a: 1\n',
          'README.md': null,
        })
        const id = await repository.write(draft)
        assert.equal(await repository.write(draft), id)
        assert.equal(await openTestRepository(fixture).write(draft), id)
        await repository.push([{ ref: DRAFT, from: null, to: id }], signal)
        assert.equal(fixture.git('rev-parse', DRAFT), id)
        assert.equal(fixture.git('rev-parse', `${id}^`), base)
        assert.equal(id, commitByGit(fixture, id, base))
        assert.equal(
          fixture.git('diff-tree', '-r', '--format=', '--name-status', id),
          'D\tREADME.md\nM\tapps/web/bin/run.sh\nM\tapps/web/deploy.yaml\nA\tapps/web/new/a.yaml',
        )
        assert.match(fixture.git('ls-tree', '-r', id), /^100755 blob .*\tapps\/web\/bin\/run.sh$/m)
        assert.match(
          fixture.git('log', '-1', '--format=%an <%ae> %ad|%cn|%(trailers:only)', '--date=raw', id),
          BOT_LINE,
        )
        assert.equal(
          execFileSync('git', ['fsck', '--strict', '--no-dangling'], {
            cwd: fixture.gitFolder,
            env: fixture.environment,
            encoding: 'utf8',
            stdio: 'pipe',
          }),
          '',
        )
        const again = await openTestRepository(fixture).commit(id, signal)
        assert.equal(
          again.message,
          'Correct it\n\nBecause.\n\nDrift-Id: 1\nSigned-off-by: backporch[bot] <backporch@users.noreply.backporch.dev>\n',
        )
      },
    )

    withRepository(
      'leaves the sign-off out where a repository wants none',
      async (repository, made) => {
        const draft = changeOf(await headOf(repository, signal), { 'README.md': 'x\n' })
        const id = await repository.write({
          ...draft,
          message: 'Correct it\r\n\r\nDrift-Id: 1',
          signOff: false,
        })
        await repository.push([{ ref: DRAFT, from: null, to: id }], signal)
        assert.equal(made.git('log', '-1', '--format=%B', id).trim(), 'Correct it\n\nDrift-Id: 1')
      },
    )

    withRepository(
      'updates and deletes a branch, makes an orphan branch and a tag',
      async (repository, made) => {
        const base = await headOf(repository, signal)
        const first = await repository.write(
          changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 4\n' }),
        )
        await repository.push([{ ref: DRAFT, from: null, to: first }], signal)
        const second = await repository.write(
          changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 5\n' }),
        )
        const ledger = await repository.write({
          parents: [],
          base: undefined,
          changes: [{ path: 'clusters/a/report.yaml', content: Buffer.from('a: 1\n') }],
          message: 'Ledger',
          at: AT,
        })
        await repository.push(
          [
            { ref: DRAFT, from: first, to: second },
            { ref: LEDGER, from: null, to: ledger },
            { ref: 'refs/tags/apps/web/v3', from: null, to: base },
          ],
          signal,
        )
        assert.equal(
          made.git('rev-parse', DRAFT, LEDGER, 'apps/web/v3'),
          `${second}\n${ledger}\n${base}`,
        )
        assert.equal(made.git('rev-list', '--count', LEDGER), '1')
        await repository.push(
          [
            { ref: DRAFT, from: second, to: null },
            { ref: PROPOSED, from: null, to: second },
          ],
          signal,
        )
        assert.equal(made.git('for-each-ref', '--format=%(refname)', DRAFT), '')
        assert.equal(made.git('rev-parse', PROPOSED), second)
        await repository.push([{ ref: 'refs/tags/apps/web/v2', from: base, to: null }], signal)
        assert.equal(
          made.git('tag', '--list', 'apps/web/v2'),
          '',
          'an annotated tag is deleted by its commit',
        )
      },
    )

    withRepository('refuses all of a push when one ref moved', async (repository, made) => {
      const base = await headOf(repository, signal)
      const id = await repository.write(changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 4\n' }))
      made.git('update-ref', PROPOSED, 'main~1')
      const error = await expectFailure(
        repository.push(
          [
            { ref: DRAFT, from: null, to: id },
            { ref: PROPOSED, from: base, to: id },
          ],
          signal,
        ),
        'BP4003',
      )
      assert.match(error.why, /proposed\/apps\/web\/drift-1/)
      assert.equal(made.git('for-each-ref', '--format=%(refname)', DRAFT), '')
      assert.equal(made.git('rev-parse', PROPOSED), made.git('rev-parse', 'main~1'))
    })

    withRepository('lets exactly one of two writers through', async (repository, made) => {
      const other = openTestRepository(made)
      const base = await headOf(repository, signal)
      const mine = await repository.write(changeOf(base, { 'a.yaml': 'mine: 1\n' }))
      const theirs = await other.write(changeOf(base, { 'a.yaml': 'theirs: 1\n' }))
      const results = await Promise.allSettled([
        repository.push([{ ref: DRAFT, from: null, to: mine }], signal),
        other.push([{ ref: DRAFT, from: null, to: theirs }], signal),
      ])
      const lost = results
        .filter((result) => result.status === 'rejected')
        .map((result) => result.reason)
      assert.equal(lost.length, 1)
      assert.ok(lost[0] instanceof Failure && lost[0].code === 'BP4003', String(lost[0]))
    })

    withRepository(
      'tells the reason of a hook that declines, and nothing moved',
      async (repository, made) => {
        const hook = join(made.git('rev-parse', '--absolute-git-dir'), 'hooks/pre-receive')
        writeFileSync(
          hook,
          `#!/bin/sh\nprintf 'GH006: protected \\033[31m ${kind === 'http' ? TOKEN : ''}\\n' >&2\nexit 1\n`,
        )
        chmodSync(hook, 0o755)
        const base = await headOf(repository, signal)
        const id = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
        const error = await expectFailure(
          repository.push(
            [
              { ref: DRAFT, from: null, to: id },
              { ref: LEDGER, from: null, to: id },
            ],
            signal,
          ),
          'BP4002',
        )
        if (kind === 'local with work tree')
          assert.match(
            error.why,
            /hooks\/pre-receive may change or reject the push, and hooks of a clone are not run/,
          )
        else
          assert.match(
            error.why,
            /GH006: protected \\u\{1b\}\[31m.*hook declined|hook declined.*GH006/,
          )
        assert.equal(made.git('for-each-ref', '--format=%(refname)', DRAFT, LEDGER), '')
      },
    )

    withRepository(
      'names the branch in the way, because git keeps no branch below another one',
      async (repository, made) => {
        const base = await headOf(repository, signal)
        const id = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
        for (const [there, wanted] of [
          ['refs/heads/proposed', PROPOSED],
          [`${LEDGER}/old`, LEDGER],
        ] as const) {
          made.git('update-ref', there, 'main')
          const { why, remedy } = await expectFailure(
            repository.push([{ ref: wanted, from: null, to: id }], signal),
            'BP4002',
          )
          assert.match(why, new RegExp(`^${there} exists`))
          assert.match(remedy, new RegExp(`${there}:refs/heads/NEW-NAME :${there}$`))
          assert.equal(
            made.git('for-each-ref', '--format=%(refname)', wanted),
            there.startsWith(wanted) ? there : '',
          )
          made.git('update-ref', '-d', there)
        }
      },
    )

    withRepository('takes a push that was done before for done', async (repository, made) => {
      const base = await headOf(repository, signal)
      const id = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
      const update = { ref: DRAFT, from: null, to: id }
      await repository.push([update], signal)
      await repository.push([update], signal)
      assert.equal(made.git('rev-parse', DRAFT), id)
    })

    withRepository(
      'moves the base branch forwards only, and no ref that is not ours',
      async (_repository, made) => {
        const repository = openTestRepository(made, { baseBranch: 'main' })
        const base = await headOf(repository, signal)
        const [parent] = (await repository.commit(base, signal)).parents
        assert.ok(parent !== undefined)
        const rewrite = await repository.write(changeOf(parent, { 'a.yaml': 'a: 1\n' }))
        await expectFailure(
          repository.push([{ ref: MAIN, from: base, to: rewrite }], signal),
          'BP4004',
        )
        await expectFailure(
          repository.push([{ ref: MAIN, from: base, to: null }], signal),
          'BP4004',
        )
        await expectFailure(
          repository.push([{ ref: 'refs/heads/feature/x', from: base, to: rewrite }], signal),
          'BP4004',
        )
        await expectFailure(
          openTestRepository(made).push([{ ref: MAIN, from: base, to: rewrite }], signal),
          'BP4004',
        )
        const byDefault = openTestRepository(made, { baseBranch: DEFAULT_BRANCH })
        await expectFailure(
          byDefault.push([{ ref: MAIN, from: base, to: rewrite }], signal),
          'BP4004',
        )
        await byDefault.listRefs(signal)
        await byDefault.write(changeOf(parent, { 'a.yaml': 'a: 1\n' }))
        const { why } = await expectFailure(
          byDefault.push([{ ref: MAIN, from: base, to: rewrite }], signal),
          'BP4004',
        )
        assert.match(why, /the base branch is never rewritten/)
        await expectFailure(
          repository.push([{ ref: 'refs/heads/drafts/foo', from: null, to: rewrite }], signal),
          'BP4004',
        )
        assert.equal(made.git('rev-parse', MAIN), base)
        const proposal = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
        const merge = await repository.write({
          ...changeOf(base, { 'a.yaml': 'a: 1\n' }),
          parents: [base, proposal],
        })
        await repository.push(
          [
            { ref: MAIN, from: base, to: merge },
            { ref: 'refs/tags/apps/web/v3', from: null, to: merge },
          ],
          signal,
        )
        assert.equal(made.git('rev-parse', 'main^2'), proposal)
        if (kind === 'local with work tree')
          assert.equal(readFileSync(join(made.gitFolder, 'a.yaml'), 'utf8'), 'a: 1\n')
      },
    )

    withRepository('sees what others push, and fetches nothing twice', async (repository, made) => {
      const base = await headOf(repository, signal)
      await repository.list(base, '', signal)
      made.git(
        'update-ref',
        'refs/heads/drafts/apps/web/other',
        made.git('commit-tree', '-p', 'main', '-m', 'Other', 'main^{tree}'),
      )
      const other = (await repository.listRefs(signal)).refs.get('refs/heads/drafts/apps/web/other')
      assert.equal((await repository.commit(parseObjectId(other ?? ''), signal)).message, 'Other\n')
      const before = made.backend?.requests.length
      await repository.commit(base, signal)
      await openTestRepository(made).list(base, 'apps/web', signal)
      assert.equal(made.backend?.requests.length, before, 'everything came from the cache')
      if (kind !== 'ssh') return
      const log = readFileSync(join(made.root, 'ssh.log'), 'utf8').trim().split('\n')
      assert.deepEqual([...new Set(log)], [`git@host.test git-upload-pack '${made.gitFolder}'`])
    })

    withRepository('says that an object is nowhere', async (repository) => {
      await repository.commit(await headOf(repository, signal), signal)
      await expectFailure(repository.commit(parseObjectId('1'.repeat(40)), signal), 'BP4006')
    })

    withRepository('stops when it is told to', async (repository, made) => {
      const head = await headOf(repository, signal)
      await assert.rejects(repository.listRefs(AbortSignal.abort(new Error('enough'))), /enough/)
      await assert.rejects(
        repository.commit(head, AbortSignal.abort(new Error('enough'))),
        /enough/,
      )
      const stop = new AbortController()
      const running = repository.listRefs(stop.signal)
      stop.abort(new Error('enough'))
      await assert.rejects(running, /enough/)
      assert.equal(existsSync(join(made.root, 'repo.git')), true)
    })
  })
}

const BOT_LINE =
  /^backporch\[bot\] <backporch@users\.noreply\.backporch\.dev> 1700000500 \+0000\|backporch\[bot\]\|Drift-Id: 1\nSigned-off-by: backporch\[bot\]/

/** The id that git itself gives to a commit of the same tree, parent, people, time and message. */
function commitByGit(fixture: TestRepository, id: string, parent: string): string {
  const person = {
    name: 'backporch[bot]',
    email: 'backporch@users.noreply.backporch.dev',
    date: `${AT} +0000`,
  }
  const env = {
    ...fixture.environment,
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: person.email,
    GIT_AUTHOR_DATE: person.date,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: person.email,
    GIT_COMMITTER_DATE: person.date,
  }
  const input = `Correct it\n\nBecause.\n\nDrift-Id: 1\nSigned-off-by: ${person.name} <${person.email}>\n`
  return execFileSync('git', ['commit-tree', `${id}^{tree}`, '-p', parent], {
    cwd: fixture.gitFolder,
    env,
    input,
    encoding: 'utf8',
  }).trim()
}

function sortByPath(lines: string): string {
  const path = (line: string) => line.split(' ').slice(2).join(' ')
  return lines
    .split('\n')
    .sort((left, right) => (path(left) < path(right) ? -1 : 1))
    .join('\n')
}
