/** A clone on this machine is read where it is: whatever shape it has, nothing is copied, and what is not needed does not matter. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type TestRepository,
} from '../../../test/contract/git-remotes.ts'
import { objectId } from '../../package/object-id.ts'
import type { PackageRepository } from '../../ports/package-repository.ts'

const signal = AbortSignal.timeout(120_000)
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'

const withMade = (name: string, body: (made: TestRepository) => Promise<void>) =>
  test(name, async () => {
    const made = await makeTestRepository('local bare')
    try {
      await body(made)
    } finally {
      await made.close()
    }
  })

/** Every file of main with its content. */
async function readAll(repository: PackageRepository, folder = ''): Promise<string> {
  const files = await repository.list(await headOf(repository, signal), folder, signal)
  const contents = await repository.read(
    files.map(({ id }) => id),
    signal,
  )
  return files.map(({ path, id }) => `${path} ${Buffer.from(contents.get(id) ?? []).toString()}`).join('\n')
}

/** A clone made by git, with the arguments given; its folder. */
function clone(made: TestRepository, name: string, ...args: readonly string[]): string {
  made.git('config', 'uploadpack.allowFilter', 'true')
  const folder = join(made.root, name)
  made.git('clone', '-q', ...args, `file://${made.gitFolder}`, folder)
  return folder
}

const at = (made: TestRepository, remote: string, environment = {}): PackageRepository =>
  openTestRepository(made, { remote, environment: { ...made.environment, ...environment } })

/** Our empty repository is all that there is in the cache. */
function assertNothingCopied(made: TestRepository): void {
  assert.deepEqual(readdirSync(made.cacheDir, { recursive: true }).sort(), ['in-place.git', 'in-place.git/HEAD', 'in-place.git/refs'])
}

function removeObject(made: TestRepository, id: string): void {
  const bare = made.gitFolder
  for (const pack of readdirSync(join(bare, 'objects/pack')).filter((name) => name.endsWith('.pack'))) {
    const path = join(made.root, pack)
    execFileSync('mv', [join(bare, 'objects/pack', pack), path])
    execFileSync('sh', ['-c', `git unpack-objects -q < '${path}'`], { cwd: bare, env: made.environment })
  }
  rmSync(join(bare, 'objects', id.slice(0, 2), id.slice(2)))
}

withMade('nothing is copied, and what is missing and not needed does not matter', async (made) => {
  const older = made.git('rev-parse', 'main~1:apps/web/deploy.yaml')
  removeObject(made, older)
  const repository = openTestRepository(made)
  assert.match(await readAll(repository), /deploy\.yaml replicas: 3/)
  assertNothingCopied(made)
  const { why } = await expectFailure(repository.read([objectId(older)], signal), 'BP4006')
  assert.match(why, new RegExp(`${older} is not in this repository`))
})

withMade('an object that is broken is told as such, and the next is read', async (made) => {
  const blob = made.git('rev-parse', 'main:README.md')
  const kept = made.git('rev-parse', 'main:apps/web/Kptfile')
  removeObject(made, blob)
  const path = join(made.gitFolder, 'objects', blob.slice(0, 2), blob.slice(2))
  writeFileSync(path, 'no object')
  const repository = openTestRepository(made)
  await expectFailure(repository.read([objectId(blob)], signal), 'BP4006')
  assert.equal((await repository.read([objectId(kept)], signal)).size, 1)
  execFileSync('cp', [join(made.gitFolder, 'objects', kept.slice(0, 2), kept.slice(2)), path])
  const { why } = await expectFailure(openTestRepository(made).read([objectId(blob)], signal), 'BP4006')
  assert.match(why, /has another content|is not/)
})

withMade('a replaced object is read as its id says', async (made) => {
  const [blob, other] = ['main:README.md', 'main:apps/web/Kptfile'].map((name) => made.git('rev-parse', name))
  made.git('replace', blob ?? '', other ?? '')
  assert.match(await readAll(openTestRepository(made)), /README\.md # Packages/)
})

withMade('a clone that borrows its objects, a linked work tree and a submodule read as any other', async (made) => {
  const expected = await readAll(openTestRepository(made))
  const borrowing = join(made.root, 'borrowing')
  made.git('clone', '-q', '--shared', made.gitFolder, borrowing)
  assert.deepEqual(readdirSync(join(borrowing, '.git/objects')).sort(), ['info', 'pack'])
  assert.equal(await readAll(at(made, borrowing)), expected)
  made.git('-C', borrowing, 'worktree', 'add', '-q', join(made.root, 'linked'), 'feature/x')
  assert.equal(await readAll(at(made, join(made.root, 'linked', 'apps'))), expected)
  const above = join(made.root, 'above')
  made.git('init', '-q', above)
  made.git('-C', above, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', made.gitFolder, 'below')
  assert.equal(await readAll(at(made, join(above, 'below', 'apps/web'))), expected)
})

withMade('a repository that is repacked and pruned between two looks reads on', async (made) => {
  const repository = openTestRepository(made)
  const expected = await readAll(repository)
  const [older] = (await repository.commit(await headOf(repository, signal), signal)).parents
  made.git('repack', '-q', '-a', '-d')
  made.git('multi-pack-index', 'write')
  made.git('commit-graph', 'write', '--reachable')
  made.git('pack-refs', '--all')
  made.git('gc', '-q', '--prune=now')
  assert.equal((await repository.commit(objectId(older ?? ''), signal)).message, 'First\n')
  assert.equal(await readAll(repository), expected)
})

withMade('a partial clone takes what it lacks from its promisor remote, in one request, and is left as it is', async (made) => {
  const expected = await readAll(openTestRepository(made))
  const partial = clone(made, 'partial', '--filter=blob:none', '--bare')
  const before = execFileSync('git', ['count-objects', '-v'], { cwd: partial, encoding: 'utf8' })
  const asked: string[] = []
  const trace = ({ what }: { readonly what: string }) => void asked.push(what)
  const repository = openTestRepository(made, { remote: partial, trace })
  const head = await headOf(repository, signal)
  assert.equal((await repository.list(head, '', signal)).length, 7)
  assertNothingCopied(made)
  assert.equal(await readAll(repository), expected)
  assert.equal(asked.filter((what) => what.includes(': send ')).length, 1)
  assert.equal(execFileSync('git', ['count-objects', '-v'], { cwd: partial, encoding: 'utf8' }), before)
})

withMade('a partial clone whose promisor remote is gone reads what it has, and says what it lacks', async (made) => {
  const partial = clone(made, 'partial', '--filter=blob:none', '--bare')
  rmSync(made.gitFolder, { recursive: true })
  const repository = at(made, partial)
  const head = await headOf(repository, signal)
  assert.equal((await repository.list(head, '', signal)).length, 7)
  const failure = await expectFailure(readAll(repository), 'BP1002')
  assert.equal(failure.where, partial)
  assert.match(failure.why, /^[0-9a-f]{40} is not there, and its promisor remote .*repo\.git does not give it/)
})

withMade('no program runs that the configuration of a repository names', async (made) => {
  const partial = clone(made, 'partial', '--filter=blob:none')
  const mark = join(made.root, 'ran')
  const program = join(made.root, 'program')
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
  mkdirSync(join(partial, '.git/hooks'), { recursive: true })
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'fsmonitor-watchman', 'pre-auto-gc']) {
    writeFileSync(join(partial, '.git/hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`)
    chmodSync(join(partial, '.git/hooks', hook), 0o755)
  }
  const blob = made.git('rev-parse', 'main~1:apps/web/deploy.yaml')
  for (const [key, value] of [
    ['remote.origin.url', `ext::${program}`],
    ['remote.origin.uploadpack', program],
    ['core.fsmonitor', program],
    ['core.sshCommand', program],
    ['core.gitProxy', program],
    ['core.alternateRefsCommand', program],
    ['uploadpack.packObjectsHook', program],
    ['diff.x.textconv', program],
    ['filter.x.smudge', program],
    ['filter.x.clean', program],
    ['core.pager', program],
    ['credential.helper', program],
    ['protocol.ext.allow', 'always'],
  ] as const)
    made.git('-C', partial, 'config', key, value)
  writeFileSync(join(partial, '.git/info/attributes'), '* filter=x diff=x\n')
  // The same by git itself does run it, so the trap is set.
  spawnSync('git', ['cat-file', 'blob', blob], { cwd: partial, env: { ...made.environment, GIT_ALLOW_PROTOCOL: 'ext' } })
  assert.equal(existsSync(mark), true)
  rmSync(mark)
  const repository = at(made, partial)
  assert.match(await readAll(repository), /deploy\.yaml replicas: 3/)
  const { why } = await expectFailure(repository.read([objectId(blob)], signal), 'BP4010')
  assert.match(why, /the address would run a remote helper program/)
  assert.equal(existsSync(mark), false)
})

withMade('a shallow clone reads its tip, and says what to do where older commits are needed', async (made) => {
  const shallow = clone(made, 'shallow', '--depth=1')
  const repository = at(made, shallow)
  assert.match(await readAll(repository), /deploy\.yaml replicas: 3/)
  const [parent] = (await repository.commit(await headOf(repository, signal), signal)).parents
  assert.equal(parent, made.git('rev-parse', 'main~1'), 'the boundary is no root')
  const { why, remedy } = await expectFailure(repository.commit(objectId(parent ?? ''), signal), 'BP4011')
  assert.match(why, /the clone is shallow/)
  assert.match(remedy, /git fetch --unshallow/)
})

for (const [name, args] of [
  ['shallow', ['--depth=1', '--no-checkout']],
  ['partial', ['--filter=blob:none', '--no-checkout']],
  ['shallow and partial', ['--depth=1', '--filter=blob:none', '--no-checkout']],
  ['treeless', ['--filter=tree:0']],
] as const) {
  withMade(`a ${name} clone takes a push that reuses what it lacks`, async (made) => {
    const folder = clone(made, 'clone', ...args)
    const repository = openTestRepository(made, { remote: folder, baseBranch: 'main' })
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 9\n' }))
    await repository.push([{ ref: DRAFT, from: null, to }], signal)
    const git = (...words: readonly string[]) => made.git('-C', folder, ...words)
    assert.equal(git('rev-parse', DRAFT), to)
    assert.equal(git('show', `${DRAFT}:apps/web/deploy.yaml`), 'replicas: 9')
    assert.match(await readAll(repository, 'apps'), /deploy\.yaml replicas: 3/)
    assert.equal(git('fsck', '--connectivity-only', '--no-dangling'), '')
  })
}

withMade('what git does not open is told by its reason', async (made) => {
  const owner = await expectFailure(
    at(made, made.gitFolder, { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1', BACKPORCH_CHILD_ENV: 'GIT_TEST_ASSUME_DIFFERENT_OWNER' }).refs(signal),
    'BP4005',
  )
  assert.match(owner.remedy, /safe\.directory/)
  const odd = join(made.root, 'odd')
  made.git('clone', '-q', made.gitFolder, odd)
  made.git('-C', odd, 'config', 'core.repositoryformatversion', '1')
  made.git('-C', odd, 'config', 'extensions.refstorage', 'from-tomorrow')
  for (const path of [odd, join(odd, 'apps/web')])
    assert.match((await expectFailure(at(made, path).refs(signal), 'BP4010')).why, /refstorage/)
  const broken = join(made.root, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, '.git'), 'gitdir: /nowhere\n')
  await expectFailure(at(made, broken).refs(signal), 'BP4010')
})

withMade('a process that has read ends by itself', async (made) => {
  const fixture = new URL('../../../test/contract/git-remotes.ts', import.meta.url)
  const program = `
    const { openTestRepository, headOf } = await import(${JSON.stringify(fixture.href)})
    const { remote, cacheDir, environment } = JSON.parse(process.argv[1])
    const repository = openTestRepository({ remote, cacheDir, environment })
    const signal = new AbortController().signal
    console.log((await repository.list(await headOf(repository, signal), '', signal)).length)`
  const { remote, cacheDir, environment } = made
  const args = ['--input-type=module-typescript', '-e', program, JSON.stringify({ remote, cacheDir, environment })]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(ended.stdout, '7\n', ended.stderr)
  assert.equal(ended.signal, null)
})
