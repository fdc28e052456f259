/** A clone on this machine is read where it is: whatever shape it has, nothing is copied, and what is not needed does not matter. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseObjectId } from '@backporch/kyaml/files'
import { findProgram } from '@backporch/system/find-program'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type TestRepository,
} from '../../../test/contract/git-remotes.ts'
import { HANG } from '../../../test/processes/hang-command.ts'
import { HANGS_AFTER } from '../../../test/waiting/wait-until.ts'
import type { PackageRepository } from '../ports/package-repository.ts'

const { signal } = new AbortController()
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'

const withRepository = (name: string, body: (fixture: TestRepository) => Promise<void>) =>
  test(name, async () => {
    const result = await makeTestRepository('local bare')
    try {
      await body(result)
    } finally {
      await result.close()
    }
  })

/** Every file of main with its content. */
async function readAll(repository: PackageRepository, folder = ''): Promise<string> {
  const files = await repository.list(await headOf(repository, signal), folder, signal)
  const contents = await repository.read(
    files.map(({ id }) => id),
    signal,
  )
  return files
    .map(({ path, id }) => `${path} ${Buffer.from(contents.get(id) ?? []).toString()}`)
    .join('\n')
}

/** A clone made by git, with the arguments given; its folder. */
function clone(fixture: TestRepository, name: string, ...args: readonly string[]): string {
  fixture.git('config', 'uploadpack.allowFilter', 'true')
  const folder = join(fixture.root, name)
  fixture.git('clone', '-q', ...args, `file://${fixture.gitFolder}`, folder)
  return folder
}

const at = (fixture: TestRepository, remote: string, environment = {}): PackageRepository =>
  openTestRepository(fixture, { remote, environment: { ...fixture.environment, ...environment } })

/** Our empty repository is all that there is in the cache. */
function assertNothingCopied(fixture: TestRepository): void {
  assert.deepEqual(readdirSync(fixture.cacheDir, { recursive: true }).sort(), [
    'in-place.git',
    'in-place.git/HEAD',
    'in-place.git/refs',
  ])
}

function removeObject(fixture: TestRepository, id: string): void {
  const bare = fixture.gitFolder
  for (const pack of readdirSync(join(bare, 'objects/pack')).filter((name) =>
    name.endsWith('.pack'),
  )) {
    const path = join(fixture.root, pack)
    execFileSync('mv', [join(bare, 'objects/pack', pack), path])
    execFileSync('sh', ['-c', `git unpack-objects -q < '${path}'`], {
      cwd: bare,
      env: fixture.environment,
    })
  }
  rmSync(join(bare, 'objects', id.slice(0, 2), id.slice(2)))
}

withRepository(
  'nothing is copied, and what is missing and not needed does not matter',
  async (fixture) => {
    const older = fixture.git('rev-parse', 'main~1:apps/web/deploy.yaml')
    removeObject(fixture, older)
    const repository = openTestRepository(fixture)
    assert.match(await readAll(repository), /deploy\.yaml replicas: 3/)
    assertNothingCopied(fixture)
    const { why } = await expectFailure(repository.read([parseObjectId(older)], signal), 'BP4006')
    assert.match(why, new RegExp(`${older} is not in this repository`))
  },
)

withRepository(
  'an object that is broken is told as such, and the next is read',
  async (fixture) => {
    const blob = fixture.git('rev-parse', 'main:README.md')
    const retained = fixture.git('rev-parse', 'main:apps/web/Kptfile')
    removeObject(fixture, blob)
    const path = join(fixture.gitFolder, 'objects', blob.slice(0, 2), blob.slice(2))
    writeFileSync(path, 'no object')
    const repository = openTestRepository(fixture)
    await expectFailure(repository.read([parseObjectId(blob)], signal), 'BP4006')
    assert.equal((await repository.read([parseObjectId(retained)], signal)).size, 1)
    execFileSync('cp', [
      join(fixture.gitFolder, 'objects', retained.slice(0, 2), retained.slice(2)),
      path,
    ])
    const { why } = await expectFailure(
      openTestRepository(fixture).read([parseObjectId(blob)], signal),
      'BP4006',
    )
    assert.match(why, /has another content|is not/)
  },
)

withRepository('a replaced object is read as its id says', async (fixture) => {
  const [blob, other] = ['main:README.md', 'main:apps/web/Kptfile'].map((name) =>
    fixture.git('rev-parse', name),
  )
  fixture.git('replace', blob ?? '', other ?? '')
  assert.match(await readAll(openTestRepository(fixture)), /README\.md # Packages/)
})

withRepository(
  'a clone that borrows its objects, a linked work tree and a submodule read as any other',
  async (fixture) => {
    const expected = await readAll(openTestRepository(fixture))
    const borrowing = join(fixture.root, 'borrowing')
    fixture.git('clone', '-q', '--shared', fixture.gitFolder, borrowing)
    assert.deepEqual(readdirSync(join(borrowing, '.git/objects')).sort(), ['info', 'pack'])
    assert.equal(await readAll(at(fixture, borrowing)), expected)
    fixture.git('-C', borrowing, 'worktree', 'add', '-q', join(fixture.root, 'linked'), 'feature/x')
    assert.equal(await readAll(at(fixture, join(fixture.root, 'linked', 'apps'))), expected)
    const above = join(fixture.root, 'above')
    fixture.git('init', '-q', above)
    fixture.git(
      '-C',
      above,
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      fixture.gitFolder,
      'below',
    )
    assert.equal(await readAll(at(fixture, join(above, 'below', 'apps/web'))), expected)
  },
)

withRepository(
  'a repository that is repacked and pruned between two looks reads on',
  async (fixture) => {
    const repository = openTestRepository(fixture)
    const expected = await readAll(repository)
    const [older] = (await repository.commit(await headOf(repository, signal), signal)).parents
    fixture.git('repack', '-q', '-a', '-d')
    fixture.git('multi-pack-index', 'write')
    fixture.git('commit-graph', 'write', '--reachable')
    fixture.git('pack-refs', '--all')
    fixture.git('gc', '-q', '--prune=now')
    assert.equal((await repository.commit(parseObjectId(older ?? ''), signal)).message, 'First\n')
    assert.equal(await readAll(repository), expected)
  },
)

withRepository(
  'a partial clone takes what it lacks from its promisor remote, in one request, and is left as it is',
  async (fixture) => {
    const expected = await readAll(openTestRepository(fixture))
    const partial = clone(fixture, 'partial', '--filter=blob:none', '--bare')
    const before = execFileSync('git', ['count-objects', '-v'], { cwd: partial, encoding: 'utf8' })
    const requested: string[] = []
    const trace = ({ what }: { readonly what: string }) => void requested.push(what)
    const repository = openTestRepository(fixture, { remote: partial, trace })
    const head = await headOf(repository, signal)
    assert.equal((await repository.list(head, '', signal)).length, 7)
    assertNothingCopied(fixture)
    assert.equal(await readAll(repository), expected)
    assert.equal(requested.filter((what) => what.includes(': send ')).length, 1)
    assert.equal(
      execFileSync('git', ['count-objects', '-v'], { cwd: partial, encoding: 'utf8' }),
      before,
    )
  },
)

withRepository(
  'a partial clone whose promisor remote is gone reads what it has, and says what it lacks',
  async (fixture) => {
    const partial = clone(fixture, 'partial', '--filter=blob:none', '--bare')
    rmSync(fixture.gitFolder, { recursive: true })
    const repository = at(fixture, partial)
    const head = await headOf(repository, signal)
    assert.equal((await repository.list(head, '', signal)).length, 7)
    const failure = await expectFailure(readAll(repository), 'BP1002')
    assert.equal(failure.where, partial)
    assert.match(
      failure.why,
      /^[0-9a-f]{40} is missing, and its promisor remote .*repo\.git does not give it/,
    )
  },
)

withRepository('no program runs that the configuration of a repository names', async (fixture) => {
  const partial = clone(fixture, 'partial', '--filter=blob:none')
  const mark = join(fixture.root, 'ran')
  const program = join(fixture.root, 'program')
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
  mkdirSync(join(partial, '.git/hooks'), { recursive: true })
  for (const hook of [
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'fsmonitor-watchman',
    'pre-auto-gc',
  ]) {
    writeFileSync(join(partial, '.git/hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`)
    chmodSync(join(partial, '.git/hooks', hook), 0o755)
  }
  const blob = fixture.git('rev-parse', 'main~1:apps/web/deploy.yaml')
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
    fixture.git('-C', partial, 'config', key, value)
  writeFileSync(join(partial, '.git/info/attributes'), '* filter=x diff=x\n')
  // The same by git itself does run it, so the trap is set.
  spawnSync('git', ['cat-file', 'blob', blob], {
    cwd: partial,
    env: { ...fixture.environment, GIT_ALLOW_PROTOCOL: 'ext' },
  })
  assert.equal(existsSync(mark), true)
  rmSync(mark)
  const repository = at(fixture, partial)
  assert.match(await readAll(repository), /deploy\.yaml replicas: 3/)
  const { why } = await expectFailure(repository.read([parseObjectId(blob)], signal), 'BP4010')
  assert.match(why, /the address would run a remote helper program/)
  assert.equal(existsSync(mark), false)
})

withRepository(
  'a shallow clone reads its tip, and says what to do where older commits are needed',
  async (fixture) => {
    const shallow = clone(fixture, 'shallow', '--depth=1')
    const repository = at(fixture, shallow)
    assert.match(await readAll(repository), /deploy\.yaml replicas: 3/)
    const [parent] = (await repository.commit(await headOf(repository, signal), signal)).parents
    assert.equal(parent, fixture.git('rev-parse', 'main~1'), 'the boundary is no root')
    const { why, remedy } = await expectFailure(
      repository.commit(parseObjectId(parent ?? ''), signal),
      'BP4011',
    )
    assert.match(why, /the clone is shallow/)
    assert.match(remedy, /git fetch --unshallow/)
  },
)

for (const [name, args] of [
  ['shallow', ['--depth=1', '--no-checkout']],
  ['partial', ['--filter=blob:none', '--no-checkout']],
  ['shallow and partial', ['--depth=1', '--filter=blob:none', '--no-checkout']],
  ['treeless', ['--filter=tree:0']],
] as const) {
  withRepository(`a ${name} clone takes a push that reuses what it lacks`, async (fixture) => {
    const folder = clone(fixture, 'clone', ...args)
    const repository = openTestRepository(fixture, { remote: folder, baseBranch: 'main' })
    const base = await headOf(repository, signal)
    const to = await repository.write(changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 9\n' }))
    await repository.push([{ ref: DRAFT, from: null, to }], signal)
    const git = (...words: readonly string[]) => fixture.git('-C', folder, ...words)
    assert.equal(git('rev-parse', DRAFT), to)
    assert.equal(git('show', `${DRAFT}:apps/web/deploy.yaml`), 'replicas: 9')
    assert.match(await readAll(repository, 'apps'), /deploy\.yaml replicas: 3/)
    assert.equal(git('fsck', '--connectivity-only', '--no-dangling'), '')
  })
}

withRepository('a git that is silent or killed is no damage', async (fixture) => {
  const bin = join(fixture.root, 'bin')
  mkdirSync(bin)
  const real = findProgram('git', process.env['PATH'] ?? '')
  const PATH = `${bin}:${process.env['PATH']}`
  for (const [does, says] of [
    [`exec ${HANG}`, /`git cat-file`: no byte for 0\.2 s/],
    ['read id; kill -KILL $$', /`git cat-file` was killed \(SIGKILL\)/],
  ] as const) {
    const body = `#!/bin/sh\ncase "$*" in *cat-file*) ${does};; esac\nexec ${real} "$@"\n`
    writeFileSync(join(bin, 'git'), body, { mode: 0o755 })
    const environment = { ...fixture.environment, PATH }
    const remote = clone(fixture, `clone-${says.source.length}`)
    const repository = openTestRepository(fixture, {
      remote,
      environment,
      limits: { silence: 200 },
    })
    const head = parseObjectId(fixture.git('rev-parse', 'main'))
    const failure = await expectFailure(repository.commit(head, signal), 'BP4001')
    assert.match(failure.why, says)
    assert.doesNotMatch(failure.remedy, /fsck/)
    assert.equal(failure.retry, 'backoff')
  }
})

withRepository('what git does not open is told by its reason', async (fixture) => {
  const owner = await expectFailure(
    at(fixture, fixture.gitFolder, {
      GIT_TEST_ASSUME_DIFFERENT_OWNER: '1',
      BACKPORCH_CHILD_ENV: 'GIT_TEST_ASSUME_DIFFERENT_OWNER',
    }).listRefs(signal),
    'BP4005',
  )
  assert.match(owner.remedy, /safe\.directory/)
  const odd = join(fixture.root, 'odd')
  fixture.git('clone', '-q', fixture.gitFolder, odd)
  fixture.git('-C', odd, 'config', 'core.repositoryformatversion', '1')
  fixture.git('-C', odd, 'config', 'extensions.refstorage', 'from-tomorrow')
  for (const path of [odd, join(odd, 'apps/web')])
    assert.match(
      (await expectFailure(at(fixture, path).listRefs(signal), 'BP4010')).why,
      /refstorage/,
    )
  const broken = join(fixture.root, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, '.git'), 'gitdir: /nowhere\n')
  await expectFailure(at(fixture, broken).listRefs(signal), 'BP4010')
})

withRepository('a process that has read ends by itself', async (fixture) => {
  const remotes = new URL('../../../test/contract/git-remotes.ts', import.meta.url)
  const program = `
    const { openTestRepository, headOf } = await import(${JSON.stringify(remotes.href)})
    const { remote, cacheDir, environment } = JSON.parse(process.argv[1])
    const repository = openTestRepository({ remote, cacheDir, environment })
    const signal = new AbortController().signal
    console.log((await repository.list(await headOf(repository, signal), '', signal)).length)`
  const { remote, cacheDir, environment } = fixture
  const args = [
    '--input-type=module-typescript',
    '-e',
    program,
    JSON.stringify({ remote, cacheDir, environment }),
  ]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: HANGS_AFTER })
  assert.equal(ended.signal, null, `it does not end by itself; it printed ${ended.stdout}`)
  assert.equal(ended.stdout, '7\n', ended.stderr)
})

withRepository(
  'a clone tells the addresses of its remotes, and a repository that is read as a remote tells none',
  async (fixture) => {
    const folder = clone(fixture, 'named')
    fixture.git('-C', folder, 'remote', 'add', 'upstream', 'git@git.example.com:acme/deploy.git')
    const addresses = await at(fixture, folder).listCloneOrigins?.(signal)
    assert.deepEqual(addresses?.toSorted(), [
      `file://${fixture.gitFolder}`,
      'git@git.example.com:acme/deploy.git',
    ])
    assert.deepEqual(
      await at(fixture, `file://${fixture.gitFolder}`).listCloneOrigins?.(signal),
      [],
    )
  },
)
