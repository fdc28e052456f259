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
import { workTreeState } from './work-tree.ts'

const signal = AbortSignal.timeout(120_000)
const MAIN = 'refs/heads/main'
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'

const withCreated = (name: string, kind: RemoteKind, body: (created: TestRepository) => Promise<void>) =>
  test(name, async () => {
    const result = await makeTestRepository(kind)
    try {
      await body(result)
    } finally {
      await result.close()
    }
  })

withCreated('a work tree with changes refuses the push to its branch and stays as it is', 'local with work tree', async (created) => {
  const repository = openTestRepository(created, { baseBranch: 'main' })
  const base = await headOf(repository, signal)
  const to = await repository.write(
    changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 4\n', 'new.yaml': 'n: 1\n', 'ignored.yaml': 'i: 1\n' }),
  )
  const deploy = join(created.gitFolder, 'apps/web/deploy.yaml')
  const refuse = async (file: string) => {
    const { why } = await expectFailure(repository.push([{ ref: MAIN, from: base, to }], signal), 'BP4007')
    assert.match(why, new RegExp(file))
    assert.equal(created.git('rev-parse', 'main'), base)
  }
  assert.equal(await workTreeState(created.gitFolder, signal, created.environment), 'clean')

  appendFileSync(deploy, '# edited\n')
  assert.equal(await workTreeState(created.gitFolder, signal, created.environment), 'dirty')
  await refuse('deploy.yaml')
  created.git('add', '-A')
  await refuse('deploy.yaml')
  assert.match(readFileSync(deploy, 'utf8'), /edited/)
  created.git('reset', '-q', '--hard')

  writeFileSync(join(created.gitFolder, 'new.yaml'), 'mine\n')
  await refuse('new.yaml')
  execFileSync('rm', [join(created.gitFolder, 'new.yaml')])
  writeFileSync(join(created.gitFolder, 'elsewhere.txt'), 'untracked and in nobody’s way\n')
  assert.equal(await workTreeState(created.gitFolder, signal, created.environment), 'dirty')
  await repository.push([{ ref: MAIN, from: base, to }], signal)
  assert.equal(created.git('rev-parse', 'main'), to)
  assert.equal(created.git('status', '--porcelain'), '?? elsewhere.txt')
  assert.equal(readFileSync(deploy, 'utf8'), 'replicas: 4\n')
})

withCreated('a branch that is not checked out is pushed although the work tree has changes', 'local with work tree', async (created) => {
  const repository = openTestRepository(created)
  const base = await headOf(repository, signal)
  appendFileSync(join(created.gitFolder, 'README.md'), 'edited\n')
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  await repository.push([{ ref: DRAFT, from: null, to }], signal)
  assert.equal(created.git('rev-parse', DRAFT), to)
  assert.equal(created.git('status', '--porcelain'), ' M README.md')
})

withCreated('every folder that git finds a repository from will do', 'local with work tree', async (created) => {
  created.git('worktree', 'add', '-q', join(created.root, 'linked'), 'feature/x')
  for (const path of ['work/apps/web', 'work/.git', 'linked', 'linked/apps', 'work']) {
    const repository = openTestRepository(created, { remote: path, workingDirectory: created.root, baseBranch: 'feature/x' })
    assert.equal(repository.remote, join(created.root, path))
    const { defaultBranch, refs } = await repository.refs(signal)
    assert.equal(defaultBranch, path.startsWith('linked') ? 'feature/x' : 'main')
    assert.equal(refs.size, 5)
  }
  assert.equal(await workTreeState(join(created.root, 'linked'), signal, created.environment), 'clean')
  const repository = openTestRepository(created, { baseBranch: 'feature/x' })
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  appendFileSync(join(created.root, 'linked/README.md'), 'edited\n')
  const { where } = await expectFailure(repository.push([{ ref: 'refs/heads/feature/x', from: base, to }], signal), 'BP4007')
  assert.equal(where, join(created.root, 'linked'))
  created.git('-C', join(created.root, 'linked'), 'checkout', '-q', '.')
  await repository.push([{ ref: 'refs/heads/feature/x', from: base, to }], signal)
  assert.equal(readFileSync(join(created.root, 'linked/a.yaml'), 'utf8'), 'a: 1\n')
})

withCreated('what surrounds the process does not lead git elsewhere', 'local bare', async (created) => {
  const environment = {
    ...created.environment,
    GIT_DIR: '/nowhere',
    GIT_WORK_TREE: '/nowhere',
    GIT_INDEX_FILE: '/nowhere',
    GIT_NAMESPACE: 'x',
  }
  const repository = openTestRepository(created, { environment })
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  await repository.push([{ ref: DRAFT, from: null, to }], signal)
  assert.equal(created.git('rev-parse', DRAFT), to)
})

withCreated('a place without a repository is told as such', 'local bare', async (created) => {
  mkdirSync(join(created.root, 'folder'))
  writeFileSync(join(created.root, 'file'), '')
  const environment = { ...created.environment, GIT_CEILING_DIRECTORIES: created.root }
  for (const remote of ['folder', 'file', 'missing', 'folder/missing']) {
    await expectFailure(openTestRepository(created, { remote: join(created.root, remote), environment }).refs(signal), 'BP1002')
  }
  assert.equal(await workTreeState(join(created.root, 'folder'), signal, environment), 'none')
  assert.equal(await workTreeState(created.gitFolder, signal, created.environment), 'none')
  assert.equal(await workTreeState(join(created.root, 'missing'), signal, created.environment), 'none')
  assert.equal(existsSync(created.cacheDir), false, 'nothing was written')
})

withCreated('an empty repository says so, and takes a first push', 'local bare', async (created) => {
  const remote = join(created.root, 'empty.git')
  created.git('init', '-q', '--bare', '-b', 'main', remote)
  const repository = openTestRepository(created, { remote })
  assert.deepEqual(await repository.refs(signal), { defaultBranch: '', refs: new Map() })
  await expectFailure(repository.commit(objectId('1'.repeat(40)), signal), 'BP1003')
  await expectFailure(repository.list(objectId('1'.repeat(40)), '', signal), 'BP1003')
  const ledger = await repository.write({ parents: [], base: undefined, changes: [], message: 'Ledger', at: 1 })
  await repository.push([{ ref: 'refs/heads/drift-ledger', from: null, to: ledger }], signal)
  assert.equal(execFileSync('git', ['fsck', '--strict'], { cwd: remote, env: created.environment, encoding: 'utf8', stdio: 'pipe' }), '')
  assert.equal((await repository.refs(signal)).defaultBranch, '', 'main is still unborn')
})

withCreated('a detached HEAD is no default branch', 'local bare', async (created) => {
  created.git('update-ref', '--no-deref', 'HEAD', created.git('rev-parse', 'main'))
  assert.equal((await openTestRepository(created).refs(signal)).defaultBranch, '')
})

withCreated('a repository of SHA-256 is refused', 'local bare', async (created) => {
  const remote = join(created.root, 'long.git')
  created.git('init', '-q', '--bare', '--object-format=sha256', remote)
  await expectFailure(openTestRepository(created, { remote }).refs(signal), 'BP4010')
})

withCreated('a machine without git, or without ssh, says what to install', 'local bare', async (created) => {
  const environment = { PATH: join(created.root, 'nothing') }
  await expectFailure(openTestRepository(created, { environment }).refs(signal), 'BP4009')
  await expectFailure(workTreeState(created.gitFolder, signal, environment), 'BP4009')
  const { why } = await expectFailure(openTestRepository(created, { environment, remote: 'git@host.test:repo' }).refs(signal), 'BP4001')
  assert.match(why, /`ssh`/)
})

withCreated('ssh is called as git calls it, and told not to ask', 'local bare', async (created) => {
  const bin = join(created.root, 'bin')
  mkdirSync(bin)
  const script = `#!/bin/sh\necho "$@" > '${created.root}/called'\neval "exec git \${8#git-}"\n`
  writeFileSync(join(bin, 'ssh'), script, { mode: 0o755 })
  const environment = { ...created.environment, PATH: `${bin}:${created.environment['PATH']}` }
  const path = join(created.root, "it's.git")
  created.git('clone', '-q', '--mirror', created.gitFolder, path)
  const repository = openTestRepository(created, { environment, remote: `ssh://git@host.test:2222${path}` })
  assert.equal((await repository.refs(signal)).refs.size, 5)
  const quoted = path.replace("'", "'\\''")
  assert.equal(
    readFileSync(join(created.root, 'called'), 'utf8'),
    `-o BatchMode=yes -o SendEnv=GIT_PROTOCOL -p 2222 git@host.test git-upload-pack '${quoted}'\n`,
  )
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\necho "Permission denied (publickey)." >&2\nexit 255\n', { mode: 0o755 })
  const { why } = await expectFailure(openTestRepository(created, { environment, remote: 'git@host.test:x' }).refs(signal), 'BP4001')
  assert.equal(why, 'Permission denied (publickey).')
})

withCreated('a folder that holds a name which git forbids is not listed, and others are', 'local bare', async (created) => {
  const blob = created.git('rev-parse', 'main:README.md')
  for (const name of ['..', '.git', 'GIT~1', '.g\u200cit', 'a/b']) {
    const bytes = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
    const options = { cwd: created.gitFolder, env: created.environment, encoding: 'utf8' } as const
    const tree = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], { ...options, input: bytes }).trim()
    const root = execFileSync('git', ['mktree'], { ...options, input: `040000 tree ${tree}\tbad\n100644 blob ${blob}\tgood\n` }).trim()
    const commit = created.git('commit-tree', '-m', 'x', root)
    created.git('update-ref', 'refs/heads/drafts/apps/web/hostile', commit)
    const repository = openTestRepository(created)
    await repository.refs(signal)
    await expectFailure(repository.list(objectId(commit), '', signal), 'BP4006')
    assert.equal((await repository.list(objectId(commit), 'good', signal)).length, 1)
  }
})

withCreated('a server that cannot move several refs at once says which moved', 'local bare', async (created) => {
  created.git('config', 'receive.advertiseAtomic', 'false')
  writeFileSync(join(created.gitFolder, 'hooks/update'), '#!/bin/sh\ncase "$1" in *ledger) echo no ledger >&2; exit 1;; esac\n', {
    mode: 0o755,
  })
  const repository = openTestRepository(created)
  const base = await headOf(repository, signal)
  const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
  const updates = [
    { ref: DRAFT, from: null, to },
    { ref: 'refs/heads/drift-ledger', from: null, to },
  ]
  const { why } = await expectFailure(repository.push(updates, signal), 'BP4002')
  assert.match(why, /refs\/heads\/drift-ledger: hook declined.*no ledger.*moved all the same refs\/heads\/drafts\/apps\/web\/drift-1$/)
  created.git('config', '--unset', 'receive.advertiseAtomic')
  created.git('update-ref', '-d', DRAFT)
  await expectFailure(repository.push(updates, signal), 'BP4002')
  assert.equal(created.git('for-each-ref', DRAFT), '', 'with atomic none moved')
})
