/** Repositories on this machine: work trees, odd states, and what is no repository. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseObjectId } from '@backporch/kyaml/files'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type RemoteKind,
  type TestRepository,
} from '../../../test/contract/git-remotes.ts'
import { workTreeState } from '../program/work-tree.ts'

const { signal } = new AbortController()
const MAIN = 'refs/heads/main'
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'

const withRepository = (
  name: string,
  kind: RemoteKind,
  body: (fixture: TestRepository) => Promise<void>,
) =>
  test(name, async () => {
    const fixture = await makeTestRepository(kind)
    try {
      await body(fixture)
    } finally {
      await fixture.close()
    }
  })

withRepository(
  'a work tree with changes refuses the push to its branch and stays as it is',
  'local with work tree',
  async (fixture) => {
    const repository = openTestRepository(fixture, { baseBranch: 'main' })
    const base = await headOf(repository, signal)
    const to = await repository.write(
      changeOf(base, {
        'apps/web/deploy.yaml': 'replicas: 4\n',
        'new.yaml': 'n: 1\n',
        'ignored.yaml': 'i: 1\n',
      }),
    )
    const deploy = join(fixture.gitFolder, 'apps/web/deploy.yaml')
    const refuse = async (file: string) => {
      const { why } = await expectFailure(
        repository.push([{ ref: MAIN, from: base, to }], signal),
        'BP4007',
      )
      assert.match(why, new RegExp(file))
      assert.equal(fixture.git('rev-parse', 'main'), base)
    }
    assert.equal(await workTreeState(fixture.gitFolder, signal, fixture.environment), 'clean')

    appendFileSync(deploy, '# edited\n')
    assert.equal(await workTreeState(fixture.gitFolder, signal, fixture.environment), 'dirty')
    await refuse('deploy.yaml')
    fixture.git('add', '-A')
    await refuse('deploy.yaml')
    assert.match(readFileSync(deploy, 'utf8'), /edited/)
    fixture.git('reset', '-q', '--hard')

    writeFileSync(join(fixture.gitFolder, 'new.yaml'), 'mine\n')
    await refuse('new.yaml')
    execFileSync('rm', [join(fixture.gitFolder, 'new.yaml')])
    writeFileSync(join(fixture.gitFolder, 'elsewhere.txt'), 'untracked and in nobody’s way\n')
    assert.equal(await workTreeState(fixture.gitFolder, signal, fixture.environment), 'dirty')
    await repository.push([{ ref: MAIN, from: base, to }], signal)
    assert.equal(fixture.git('rev-parse', 'main'), to)
    assert.equal(fixture.git('status', '--porcelain'), '?? elsewhere.txt')
    assert.equal(readFileSync(deploy, 'utf8'), 'replicas: 4\n')
  },
)

withRepository(
  'a branch that is not checked out is pushed although the work tree has changes',
  'local with work tree',
  async (fixture) => {
    const repository = openTestRepository(fixture)
    const base = await headOf(repository, signal)
    appendFileSync(join(fixture.gitFolder, 'README.md'), 'edited\n')
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    await repository.push([{ ref: DRAFT, from: null, to }], signal)
    assert.equal(fixture.git('rev-parse', DRAFT), to)
    assert.equal(fixture.git('status', '--porcelain'), ' M README.md')
  },
)

withRepository(
  'every folder that git finds a repository from will do',
  'local with work tree',
  async (fixture) => {
    fixture.git('worktree', 'add', '-q', join(fixture.root, 'linked'), 'feature/x')
    for (const path of ['work/apps/web', 'work/.git', 'linked', 'linked/apps', 'work']) {
      const repository = openTestRepository(fixture, {
        remote: path,
        workingDirectory: fixture.root,
        baseBranch: 'feature/x',
      })
      assert.equal(repository.remote, join(fixture.root, path))
      const { defaultBranch, refs } = await repository.listRefs(signal)
      assert.equal(defaultBranch, path.startsWith('linked') ? 'feature/x' : 'main')
      assert.equal(refs.size, 5)
    }
    assert.equal(
      await workTreeState(join(fixture.root, 'linked'), signal, fixture.environment),
      'clean',
    )
    const repository = openTestRepository(fixture, { baseBranch: 'feature/x' })
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    appendFileSync(join(fixture.root, 'linked/README.md'), 'edited\n')
    const { where } = await expectFailure(
      repository.push([{ ref: 'refs/heads/feature/x', from: base, to }], signal),
      'BP4007',
    )
    assert.equal(where, join(fixture.root, 'linked'))
    fixture.git('-C', join(fixture.root, 'linked'), 'checkout', '-q', '.')
    await repository.push([{ ref: 'refs/heads/feature/x', from: base, to }], signal)
    assert.equal(readFileSync(join(fixture.root, 'linked/a.yaml'), 'utf8'), 'a: 1\n')
  },
)

withRepository(
  'what surrounds the process does not lead git elsewhere',
  'local bare',
  async (fixture) => {
    const environment = {
      ...fixture.environment,
      GIT_DIR: '/nowhere',
      GIT_WORK_TREE: '/nowhere',
      GIT_INDEX_FILE: '/nowhere',
      GIT_NAMESPACE: 'x',
    }
    const repository = openTestRepository(fixture, { environment })
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    await repository.push([{ ref: DRAFT, from: null, to }], signal)
    assert.equal(fixture.git('rev-parse', DRAFT), to)
  },
)

withRepository('a place without a repository is told as such', 'local bare', async (fixture) => {
  mkdirSync(join(fixture.root, 'folder'))
  writeFileSync(join(fixture.root, 'file'), '')
  const environment = { ...fixture.environment, GIT_CEILING_DIRECTORIES: fixture.root }
  for (const remote of ['folder', 'file', 'missing', 'folder/missing']) {
    await expectFailure(
      openTestRepository(fixture, { remote: join(fixture.root, remote), environment }).listRefs(
        signal,
      ),
      'BP1002',
    )
  }
  assert.equal(await workTreeState(join(fixture.root, 'folder'), signal, environment), 'none')
  assert.equal(await workTreeState(fixture.gitFolder, signal, fixture.environment), 'none')
  assert.equal(
    await workTreeState(join(fixture.root, 'missing'), signal, fixture.environment),
    'none',
  )
  assert.equal(existsSync(fixture.cacheDir), false, 'nothing was written')
})

withRepository(
  'an empty repository says so, and takes a first push',
  'local bare',
  async (fixture) => {
    const remote = join(fixture.root, 'empty.git')
    fixture.git('init', '-q', '--bare', '-b', 'main', remote)
    const repository = openTestRepository(fixture, { remote })
    assert.deepEqual(await repository.listRefs(signal), {
      defaultBranch: undefined,
      refs: new Map(),
    })
    await expectFailure(repository.commit(parseObjectId('1'.repeat(40)), signal), 'BP1003')
    await expectFailure(repository.list(parseObjectId('1'.repeat(40)), '', signal), 'BP1003')
    const ledger = await repository.write({
      parents: [],
      base: undefined,
      changes: [],
      message: 'Ledger',
      at: 1,
    })
    await repository.push([{ ref: 'refs/heads/drift-ledger', from: null, to: ledger }], signal)
    assert.equal(
      execFileSync('git', ['fsck', '--strict'], {
        cwd: remote,
        env: fixture.environment,
        encoding: 'utf8',
        stdio: 'pipe',
      }),
      '',
    )
    assert.equal(
      (await repository.listRefs(signal)).defaultBranch,
      undefined,
      'main is still unborn',
    )
  },
)

withRepository('a detached HEAD is no default branch', 'local bare', async (fixture) => {
  fixture.git('update-ref', '--no-deref', 'HEAD', fixture.git('rev-parse', 'main'))
  assert.equal((await openTestRepository(fixture).listRefs(signal)).defaultBranch, undefined)
})

withRepository('a repository of SHA-256 is refused', 'local bare', async (fixture) => {
  const remote = join(fixture.root, 'long.git')
  fixture.git('init', '-q', '--bare', '--object-format=sha256', remote)
  await expectFailure(openTestRepository(fixture, { remote }).listRefs(signal), 'BP4010')
})

withRepository(
  'a machine without git, or without ssh, says what to install',
  'local bare',
  async (fixture) => {
    const environment = { PATH: join(fixture.root, 'nothing') }
    await expectFailure(openTestRepository(fixture, { environment }).listRefs(signal), 'BP4009')
    await expectFailure(workTreeState(fixture.gitFolder, signal, environment), 'BP4009')
    const { why } = await expectFailure(
      openTestRepository(fixture, { environment, remote: 'git@host.test:repo' }).listRefs(signal),
      'BP4001',
    )
    assert.match(why, /`ssh`/)
  },
)

withRepository(
  'ssh is called as git calls it, and told not to ask',
  'local bare',
  async (fixture) => {
    const bin = join(fixture.root, 'bin')
    mkdirSync(bin)
    const script = `#!/bin/sh\necho "$@" > '${fixture.root}/called'\neval "exec git \${8#git-}"\n`
    writeFileSync(join(bin, 'ssh'), script, { mode: 0o755 })
    const environment = { ...fixture.environment, PATH: `${bin}:${fixture.environment['PATH']}` }
    const path = join(fixture.root, "it's.git")
    fixture.git('clone', '-q', '--mirror', fixture.gitFolder, path)
    const repository = openTestRepository(fixture, {
      environment,
      remote: `ssh://git@host.test:2222${path}`,
    })
    assert.equal((await repository.listRefs(signal)).refs.size, 5)
    const quoted = path.replace("'", "'\\''")
    assert.equal(
      readFileSync(join(fixture.root, 'called'), 'utf8'),
      `-o BatchMode=yes -o SendEnv=GIT_PROTOCOL -p 2222 git@host.test git-upload-pack '${quoted}'\n`,
    )
    writeFileSync(
      join(bin, 'ssh'),
      '#!/bin/sh\necho "Permission denied (publickey)." >&2\nexit 255\n',
      { mode: 0o755 },
    )
    const { why } = await expectFailure(
      openTestRepository(fixture, { environment, remote: 'git@host.test:x' }).listRefs(signal),
      'BP4001',
    )
    assert.equal(why, 'Permission denied (publickey).')
  },
)

withRepository(
  'a folder that holds a name which git forbids is not listed, and others are',
  'local bare',
  async (fixture) => {
    const blob = fixture.git('rev-parse', 'main:README.md')
    for (const name of ['..', '.git', 'GIT~1', '.g\u200cit', 'a/b']) {
      const bytes = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
      const options = {
        cwd: fixture.gitFolder,
        env: fixture.environment,
        encoding: 'utf8',
      } as const
      const tree = execFileSync(
        'git',
        ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
        { ...options, input: bytes },
      ).trim()
      const root = execFileSync('git', ['mktree'], {
        ...options,
        input: `040000 tree ${tree}\tbad\n100644 blob ${blob}\tgood\n`,
      }).trim()
      const commit = fixture.git('commit-tree', '-m', 'x', root)
      fixture.git('update-ref', 'refs/heads/drafts/apps/web/hostile', commit)
      const repository = openTestRepository(fixture)
      await repository.listRefs(signal)
      await expectFailure(repository.list(parseObjectId(commit), '', signal), 'BP4006')
      assert.equal((await repository.list(parseObjectId(commit), 'good', signal)).length, 1)
    }
  },
)

withRepository(
  'a server that cannot move several refs at once says which moved',
  'local bare',
  async (fixture) => {
    fixture.git('config', 'receive.advertiseAtomic', 'false')
    writeFileSync(
      join(fixture.gitFolder, 'hooks/update'),
      '#!/bin/sh\ncase "$1" in *ledger) echo no ledger >&2; exit 1;; esac\n',
      {
        mode: 0o755,
      },
    )
    const repository = openTestRepository(fixture)
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
    const updates = [
      { ref: DRAFT, from: null, to },
      { ref: 'refs/heads/drift-ledger', from: null, to },
    ]
    const { why } = await expectFailure(repository.push(updates, signal), 'BP4002')
    assert.match(
      why,
      /refs\/heads\/drift-ledger: hook declined.*no ledger.*moved nevertheless refs\/heads\/drafts\/apps\/web\/drift-1$/,
    )
    fixture.git('config', '--unset', 'receive.advertiseAtomic')
    fixture.git('update-ref', '-d', DRAFT)
    await expectFailure(repository.push(updates, signal), 'BP4002')
    assert.equal(fixture.git('for-each-ref', DRAFT), '', 'with atomic none moved')
  },
)
