/** Repositories on this machine: work trees, odd states, and what is no repository. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type RemoteKind,
  type TestRepository,
} from '../../../test/contract/git-remotes.ts'
import { objectId } from '../../package/object-id.ts'
import { openRepository } from './repository.ts'
import { workTreeState } from './work-tree.ts'

const signal = AbortSignal.timeout(120_000)
const MAIN = 'refs/heads/main'
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'

const withMade = (name: string, kind: RemoteKind, body: (made: TestRepository) => Promise<void>) =>
  test(name, async () => {
    const made = await makeTestRepository(kind)
    try {
      await body(made)
    } finally {
      await made.close()
    }
  })

withMade('a work tree with changes refuses the push to its branch and stays as it is', 'local with work tree', async (made) => {
  const repository = openTestRepository(made, { baseBranch: 'main' })
  const base = await headOf(repository, signal)
  const to = await repository.write(
    changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 4\n', 'new.yaml': 'n: 1\n', 'ignored.yaml': 'i: 1\n' }),
  )
  const deploy = join(made.gitFolder, 'apps/web/deploy.yaml')
  const refuse = async (file: string) => {
    const { why } = await expectFailure(repository.push([{ ref: MAIN, from: base, to }], signal), 'BP4007')
    assert.match(why, new RegExp(file))
    assert.equal(made.git('rev-parse', 'main'), base)
  }
  assert.equal(await workTreeState(made.gitFolder, signal, made.environment), 'clean')

  appendFileSync(deploy, '# edited\n')
  assert.equal(await workTreeState(made.gitFolder, signal, made.environment), 'dirty')
  await refuse('deploy.yaml')
  made.git('add', '-A')
  await refuse('deploy.yaml')
  assert.match(readFileSync(deploy, 'utf8'), /edited/)
  made.git('reset', '-q', '--hard')

  writeFileSync(join(made.gitFolder, 'new.yaml'), 'mine\n')
  await refuse('new.yaml')
  execFileSync('rm', [join(made.gitFolder, 'new.yaml')])
  writeFileSync(join(made.gitFolder, 'elsewhere.txt'), 'untracked and in nobody’s way\n')
  assert.equal(await workTreeState(made.gitFolder, signal, made.environment), 'dirty')
  await repository.push([{ ref: MAIN, from: base, to }], signal)
  assert.equal(made.git('rev-parse', 'main'), to)
  assert.equal(made.git('status', '--porcelain'), '?? elsewhere.txt')
  assert.equal(readFileSync(deploy, 'utf8'), 'replicas: 4\n')
})

withMade('a branch that is not checked out is pushed although the work tree has changes', 'local with work tree', async (made) => {
  const repository = openTestRepository(made)
  const base = await headOf(repository, signal)
  appendFileSync(join(made.gitFolder, 'README.md'), 'edited\n')
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  await repository.push([{ ref: DRAFT, from: null, to }], signal)
  assert.equal(made.git('rev-parse', DRAFT), to)
  assert.equal(made.git('status', '--porcelain'), ' M README.md')
})

withMade('every folder that git finds a repository from will do', 'local with work tree', async (made) => {
  made.git('worktree', 'add', '-q', join(made.root, 'linked'), 'feature/x')
  for (const path of ['work/apps/web', 'work/.git', 'linked', 'linked/apps', 'work']) {
    const repository = openTestRepository(made, { remote: path, workingDirectory: made.root, baseBranch: 'feature/x' })
    assert.equal(repository.remote, join(made.root, path))
    const { defaultBranch, refs } = await repository.refs(signal)
    assert.equal(defaultBranch, path.startsWith('linked') ? 'feature/x' : 'main')
    assert.equal(refs.size, 5)
  }
  assert.equal(await workTreeState(join(made.root, 'linked'), signal, made.environment), 'clean')
  const repository = openTestRepository(made, { baseBranch: 'feature/x' })
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  appendFileSync(join(made.root, 'linked/README.md'), 'edited\n')
  const { where } = await expectFailure(repository.push([{ ref: 'refs/heads/feature/x', from: base, to }], signal), 'BP4007')
  assert.equal(where, join(made.root, 'linked'))
  made.git('-C', join(made.root, 'linked'), 'checkout', '-q', '.')
  await repository.push([{ ref: 'refs/heads/feature/x', from: base, to }], signal)
  assert.equal(readFileSync(join(made.root, 'linked/a.yaml'), 'utf8'), 'a: 1\n')
})

withMade('what surrounds the process does not lead git elsewhere', 'local bare', async (made) => {
  const environment = {
    ...made.environment,
    GIT_DIR: '/nowhere',
    GIT_WORK_TREE: '/nowhere',
    GIT_INDEX_FILE: '/nowhere',
    GIT_NAMESPACE: 'x',
  }
  const repository = openTestRepository(made, { environment })
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  await repository.push([{ ref: DRAFT, from: null, to }], signal)
  assert.equal(made.git('rev-parse', DRAFT), to)
})

withMade('a place without a repository is told as such', 'local bare', async (made) => {
  mkdirSync(join(made.root, 'folder'))
  writeFileSync(join(made.root, 'file'), '')
  const environment = { ...made.environment, GIT_CEILING_DIRECTORIES: made.root }
  for (const remote of ['folder', 'file', 'missing', 'folder/missing']) {
    await expectFailure(openTestRepository(made, { remote: join(made.root, remote), environment }).refs(signal), 'BP1002')
  }
  assert.equal(await workTreeState(join(made.root, 'folder'), signal, environment), 'none')
  assert.equal(await workTreeState(made.gitFolder, signal, made.environment), 'none')
  assert.equal(await workTreeState(join(made.root, 'missing'), signal, made.environment), 'none')
  assert.equal(existsSync(made.cacheDir), false, 'nothing was written')
})

withMade('an empty repository says so, and takes a first push', 'local bare', async (made) => {
  const remote = join(made.root, 'empty.git')
  made.git('init', '-q', '--bare', '-b', 'main', remote)
  const repository = openTestRepository(made, { remote })
  assert.deepEqual(await repository.refs(signal), { defaultBranch: '', refs: new Map() })
  await expectFailure(repository.commit(objectId('1'.repeat(40)), signal), 'BP1003')
  await expectFailure(repository.list(objectId('1'.repeat(40)), '', signal), 'BP1003')
  const ledger = await repository.write({ parents: [], base: undefined, changes: [], message: 'Ledger', at: 1 })
  await repository.push([{ ref: 'refs/heads/drift-ledger', from: null, to: ledger }], signal)
  assert.equal(execFileSync('git', ['fsck', '--strict'], { cwd: remote, env: made.environment, encoding: 'utf8', stdio: 'pipe' }), '')
  assert.equal((await repository.refs(signal)).defaultBranch, '', 'main is still unborn')
})

withMade('a detached HEAD is no default branch', 'local bare', async (made) => {
  made.git('update-ref', '--no-deref', 'HEAD', made.git('rev-parse', 'main'))
  assert.equal((await openTestRepository(made).refs(signal)).defaultBranch, '')
})

withMade('a repository of SHA-256 is refused', 'local bare', async (made) => {
  const remote = join(made.root, 'long.git')
  made.git('init', '-q', '--bare', '--object-format=sha256', remote)
  await expectFailure(openTestRepository(made, { remote }).refs(signal), 'BP4010')
})

withMade('a machine without git, or without ssh, says what to install', 'local bare', async (made) => {
  const environment = { PATH: join(made.root, 'nothing') }
  await expectFailure(openTestRepository(made, { environment }).refs(signal), 'BP4009')
  await expectFailure(workTreeState(made.gitFolder, signal, environment), 'BP4009')
  const { why } = await expectFailure(openTestRepository(made, { environment, remote: 'git@host.test:repo' }).refs(signal), 'BP4001')
  assert.match(why, /`ssh`/)
})

withMade('ssh is called as git calls it, and told not to ask', 'local bare', async (made) => {
  const bin = join(made.root, 'bin')
  mkdirSync(bin)
  const script = `#!/bin/sh\necho "$@" > '${made.root}/called'\neval "exec git \${8#git-}"\n`
  writeFileSync(join(bin, 'ssh'), script, { mode: 0o755 })
  const environment = { ...made.environment, PATH: `${bin}:${made.environment['PATH']}` }
  const path = join(made.root, "it's.git")
  made.git('clone', '-q', '--mirror', made.gitFolder, path)
  const repository = openTestRepository(made, { environment, remote: `ssh://git@host.test:2222${path}` })
  assert.equal((await repository.refs(signal)).refs.size, 5)
  const quoted = path.replace("'", "'\\''")
  assert.equal(
    readFileSync(join(made.root, 'called'), 'utf8'),
    `-o BatchMode=yes -o SendEnv=GIT_PROTOCOL -p 2222 git@host.test git-upload-pack '${quoted}'\n`,
  )
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\necho "Permission denied (publickey)." >&2\nexit 255\n', { mode: 0o755 })
  const { why } = await expectFailure(openTestRepository(made, { environment, remote: 'git@host.test:x' }).refs(signal), 'BP4001')
  assert.equal(why, 'Permission denied (publickey).')
})

withMade('a folder that holds a name which git forbids is not listed, and others are', 'local bare', async (made) => {
  const blob = made.git('rev-parse', 'main:README.md')
  for (const name of ['..', '.git', 'GIT~1', '.g\u200cit', 'a/b']) {
    const bytes = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
    const options = { cwd: made.gitFolder, env: made.environment, encoding: 'utf8' } as const
    const tree = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], { ...options, input: bytes }).trim()
    const root = execFileSync('git', ['mktree'], { ...options, input: `040000 tree ${tree}\tbad\n100644 blob ${blob}\tgood\n` }).trim()
    const commit = made.git('commit-tree', '-m', 'x', root)
    made.git('update-ref', 'refs/heads/drafts/apps/web/hostile', commit)
    const repository = openTestRepository(made)
    await repository.refs(signal)
    await expectFailure(repository.list(objectId(commit), '', signal), 'BP4006')
    assert.equal((await repository.list(objectId(commit), 'good', signal)).length, 1)
  }
})

withMade('a server that cannot move several refs at once says which moved', 'local bare', async (made) => {
  made.git('config', 'receive.advertiseAtomic', 'false')
  writeFileSync(join(made.gitFolder, 'hooks/update'), '#!/bin/sh\ncase "$1" in *ledger) echo no ledger >&2; exit 1;; esac\n', {
    mode: 0o755,
  })
  const repository = openTestRepository(made)
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  const updates = [
    { ref: DRAFT, from: null, to },
    { ref: 'refs/heads/drift-ledger', from: null, to },
  ]
  const { why } = await expectFailure(repository.push(updates, signal), 'BP4002')
  assert.match(why, /refs\/heads\/drift-ledger: hook declined.*no ledger.*moved all the same refs\/heads\/drafts\/apps\/web\/drift-1$/)
  made.git('config', '--unset', 'receive.advertiseAtomic')
  made.git('update-ref', '-d', DRAFT)
  await expectFailure(repository.push(updates, signal), 'BP4002')
  assert.equal(made.git('for-each-ref', DRAFT), '', 'with atomic none moved')
})

test('an identity that git cannot write is refused', async () => {
  for (const identity of [
    { name: 'a<b', email: 'x@y' },
    { name: 'a\nb', email: 'x@y' },
    { name: '', email: 'x@y' },
    { name: 'a', email: 'x y' },
  ]) {
    const open = async () => openRepository({ remote: '/x', cacheDir: '/x', identity })
    await expectFailure(open(), 'BP1001')
  }
})
