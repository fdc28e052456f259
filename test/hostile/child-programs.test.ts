/** What the programs that we start are given, and which programs of a clone never run. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createCredentialSource } from '@backporch/cluster/api-server'
import { probePush } from '@backporch/git-store/probe-push'
import { openRepository } from '@backporch/git-store/repository'
import { cloneState, workTreeState } from '@backporch/git-store/work-tree'
import { Failure } from '@backporch/kyaml/failure'
import { ContainerEngine } from '../../src/adapters/functions/container-engine.ts'
import { FUNCTION_LIMITS } from '../../src/adapters/functions/function-limits.ts'
import { PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import { runExternalDiff } from '../../src/adapters/system/external-diff.ts'
import { makePackages, writeRecording } from '../action/stage.ts'
import { accessTo } from '../apiserver/scripted-cluster.ts'
import { startGitHttpBackend } from '../contract/git-http-backend.ts'
import { changeOf, gitTestEnvironment, headOf, temporaryFolder } from '../contract/git-remotes.ts'
import { runProgram } from '../e2e/run-program.ts'
import { PROGRAM } from '../program.ts'
import { HANGS_AFTER } from '../waiting/wait-until.ts'

const { signal } = new AbortController()
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'

/** Names that people give to credentials, each with a value that nothing else has. */
const CANARIES = Object.fromEntries(
  [
    'BACKPORCH_TOKEN',
    'BACKPORCH_KEY',
    'BACKPORCH_WEBHOOK_SECRET',
    'BACKPORCH_AUDIT_TOKEN',
    'BACKPORCH_APP_PRIVATE_KEY',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'GITEA_TOKEN',
    'GITLAB_TOKEN',
    'GIT_TOKEN',
    'GIT_PASSWORD',
    'NPM_TOKEN',
    'VAULT_TOKEN',
    'DATABASE_URL',
    'ACTIONS_RUNTIME_TOKEN',
    'LD_PRELOAD_OF_TEST',
    'NODE_OPTIONS_OF_TEST',
  ].map((name) => [name, `canary-${name}`]),
)
/** Given to a credential plugin alone, which makes a token for the cluster out of it. */
const CLOUD = { AWS_SECRET_ACCESS_KEY: 'canary-cloud' }

interface Fixture {
  readonly root: string
  readonly environment: NodeJS.ProcessEnv
  /** Puts a program on the PATH that notes its environment and folder, and then does `body`. */
  add(name: string, body: string): string
  /** What the programs of the name are both set, one text a run. */
  given(name: string): readonly string[]
}

function contextOf(): Fixture {
  const root = temporaryFolder()
  const [programs, notes] = ['programs', 'notes'].map((name) => join(root, name)) as [
    string,
    string,
  ]
  for (const folder of [programs, notes]) mkdirSync(folder)
  const environment = {
    ...gitTestEnvironment(root),
    ...CANARIES,
    ...CLOUD,
    PATH: `${programs}:${process.env['PATH']}`,
  }
  return {
    root,
    environment,
    add: (name, body) => {
      const path = join(programs, name)
      writeFileSync(
        path,
        `#!/bin/sh\n{ pwd; env; } > "$(mktemp '${notes}/${name}.XXXXXX')"\n${body}\n`,
      )
      chmodSync(path, 0o755)
      return path
    },
    given: (name) =>
      readdirSync(notes).flatMap((file) =>
        file.startsWith(`${name}.`) ? [readFileSync(join(notes, file), 'utf8')] : [],
      ),
  }
}

function assertScrubbed({ given }: Fixture, name: string, allowed: RegExp = /^$/): void {
  const runs = given(name)
  assert.notEqual(runs.length, 0, `${name} ran`)
  for (const run of runs) {
    assert.deepEqual(
      run.split('\n').filter((line) => /canary/.test(line) && !allowed.test(line)),
      [],
    )
  }
}

suite('child programs get the environment that they need and no credentials', () => {
  test('git in place, over http and for a push, and ssh', async () => {
    const fixture = contextOf()
    const { root, environment } = fixture
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    makePackages(join(root, 'deploy.git'), gitTestEnvironment(root))
    fixture.add('git', `exec '${real}' "$@"`)
    fixture.add('ssh', `for last; do :; done; exec sh -c "$last"`)
    const open = (remote: string) =>
      openRepository({ remote, cacheDir: join(root, 'cache'), environment, workingDirectory: root })
    const server = gitTestEnvironment(root)
    const backend = await startGitHttpBackend({ root, environment: server, token: 'x' })
    try {
      for (const remote of [
        join(root, 'deploy.git'),
        `file://${root}/deploy.git`,
        `ssh://git@host.example${root}/deploy.git`,
      ]) {
        const repository = open(remote)
        const base = await headOf(repository, signal)
        await repository.list(base, '', signal)
        const to = await repository.write(changeOf(base, { 'a.yaml': `a: ${remote.length}\n` }))
        await repository.push([{ ref: `${DRAFT}${remote.length}`, from: null, to }], signal)
      }
      await assert.rejects(open(`${backend.url}/deploy.git`).listRefs(signal), /BP4005|credentials/)
    } finally {
      await backend.close()
    }
    assertScrubbed(fixture, 'git')
    assertScrubbed(fixture, 'ssh')
    for (const run of fixture.given('git'))
      assert.match(run, /^\/\n/, 'not in the folder that we were started in')
  })

  test('also get the variables that the operator names', async () => {
    const setup = contextOf()
    const program = setup.add('viewer', 'exit 1')
    const files = [{ name: 'a', git: 'a: 1\n', live: 'a: 2\n' }]
    const view = (environment: NodeJS.ProcessEnv) =>
      runExternalDiff({
        program: [program],
        files,
        workingDirectory: setup.root,
        environment,
        inherit: false,
      })
    view(setup.environment)
    assertScrubbed(setup, 'viewer')
    view({ ...setup.environment, BACKPORCH_CHILD_ENV: 'VAULT_TOKEN, NPM_TOKEN' })
    const named = setup
      .given('viewer')
      .filter((run) => /^VAULT_TOKEN=canary/m.test(run) && /^NPM_TOKEN=canary/m.test(run))
    assert.equal(named.length, 1)
    assert.doesNotMatch(named.join(), /canary-(?!VAULT_TOKEN|NPM_TOKEN)/)
  })

  test('credential plugins, container engines and programs that render', async () => {
    const giteaFixture = contextOf()
    const { environment } = giteaFixture
    const plugin = giteaFixture.add(
      'plugin',
      `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'`,
    )
    const exec = {
      command: plugin,
      args: [],
      env: [],
      apiVersion: 'client.authentication.k8s.io/v1',
      provideClusterInfo: false,
    }
    const access = accessTo(
      { url: 'https://127.0.0.1:6443', authority: '-----BEGIN CERTIFICATE-----\nx' },
      { exec },
    )
    await createCredentialSource(access, {
      environment,
      execAllow: [plugin],
      now: () => new Date('2026-11-21T10:00:00Z'),
    }).read(signal)
    assertScrubbed(giteaFixture, 'plugin', /^AWS_SECRET_ACCESS_KEY=/)
    assert.match(
      giteaFixture.given('plugin').join(),
      /^\/\n/,
      'not in the folder that we were started in',
    )

    giteaFixture.add('docker', 'cat > /dev/null; exit 0')
    const engine = new ContainerEngine({
      engine: 'docker',
      environment,
      limits: FUNCTION_LIMITS,
      pullTime: HANGS_AFTER,
    })
    await engine.run('reg.example/fn:v1', 'x', signal)
    assertScrubbed(giteaFixture, 'docker')

    giteaFixture.add('kubectl', 'echo "kind: List"')
    const file = {
      path: 'kustomization.yaml',
      mode: '100644',
      content: Buffer.from('resources: []\n'),
    } as const
    await new PackageBuilds({ allowed: ['kubectl'], environment }).build(
      { tool: 'kustomize', folder: '', files: [file], command: [] },
      signal,
    )
    assertScrubbed(giteaFixture, 'kubectl')
  })
})

suite('no program that a clone names ever runs', () => {
  /** A clone of the demo's packages in which everything that git can be told to run is a trap. */
  function trappedClone(): {
    clone: string
    fixture: Fixture
    sprung: () => boolean
    root: string
  } {
    const fixture = contextOf()
    const { root } = fixture
    const environment = gitTestEnvironment(root)
    const clone = join(root, 'clone')
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-C', clone, ...args], { env: environment, encoding: 'utf8' })
    makePackages(join(root, 'deploy.git'), environment, {
      '.gitattributes': '* filter=trap diff=trap merge=trap\n',
    })
    execFileSync('git', ['clone', '-q', join(root, 'deploy.git'), clone], { env: environment })
    const mark = join(root, 'sprung')
    const program = join(root, 'trap')
    writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${mark}'\ncat\n`, { mode: 0o755 })
    for (const hook of [
      'post-receive',
      'post-update',
      'post-checkout',
      'post-index-change',
      'post-merge',
      'pre-auto-gc',
      'pre-commit',
      'fsmonitor-watchman',
    ])
      writeFileSync(join(clone, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> '${mark}'\n`, {
        mode: 0o755,
      })
    // What stands in another file counts as if it stood here.
    const included = join(root, 'included')
    const settings: readonly (readonly [string, string])[] = [
      ['core.fsmonitor', program],
      ['core.sshCommand', program],
      ['core.gitProxy', program],
      ['core.askPass', program],
      ['core.pager', program],
      ['core.editor', program],
      ['core.alternateRefsCommand', program],
      ['uploadpack.packObjectsHook', program],
      ['filter.trap.clean', program],
      ['filter.trap.smudge', program],
      ['filter.trap.required', 'true'],
      ['diff.external', program],
      ['diff.trap.command', program],
      ['diff.trap.textconv', program],
      ['merge.trap.driver', program],
      ['credential.helper', `!${program}`],
      ['gpg.program', program],
      ['interactive.diffFilter', program],
      ['alias.status', `!${program}`],
      ['alias.config', `!${program}`],
      ['protocol.ext.allow', 'always'],
      ['gc.auto', '1'],
      ['receive.autogc', 'true'],
    ]
    for (const [key, value] of settings)
      execFileSync('git', ['config', '--file', included, key, value], { env: environment })
    git('config', 'include.path', included)
    git('config', 'filter.another.process', program)
    // The files look touched, so that git reads them through the filter.
    for (const file of execFileSync('git', ['-C', clone, 'ls-files'], {
      env: environment,
      encoding: 'utf8',
    })
      .trim()
      .split('\n'))
      execFileSync('touch', ['-d', '2001-01-01', join(clone, file)])
    // The same by git itself does run it, so the trap is set.
    git('status')
    assert.equal(existsSync(mark), true)
    const sprung = (): boolean => existsSync(mark)
    rmSync(mark)
    for (const file of git('ls-files').trim().split('\n'))
      execFileSync('touch', ['-d', '2002-02-02', join(clone, file)])
    rmSync(mark, { force: true })
    return { clone, fixture, sprung, root }
  }

  test('when its objects, its work tree and its state are read, and its checked-out branch is pushed to', async () => {
    const { clone, sprung, root } = trappedClone()
    const environment = gitTestEnvironment(root)
    const repository = openRepository({
      remote: clone,
      cacheDir: join(root, 'cache'),
      environment,
      baseBranch: 'main',
    })
    const base = await headOf(repository, signal)
    const files = await repository.list(base, '', signal)
    await repository.read(
      files.map(({ id }) => id),
      signal,
    )
    assert.equal(await workTreeState(clone, signal, environment), 'clean')
    assert.equal(await cloneState(clone, signal, environment), 'clone')
    const to = await repository.write(changeOf(base, { 'fleet/apps/web/more.yaml': 'a: 1\n' }))
    await repository.push(
      [
        { ref: DRAFT, from: null, to },
        { ref: 'refs/heads/main', from: base, to },
      ],
      signal,
    )
    assert.equal(
      readFileSync(join(clone, 'fleet/apps/web/more.yaml'), 'utf8'),
      'a: 1\n',
      'the work tree moved along',
    )
    const answers = await probePush(
      { remote: clone, workingDirectory: root, environment },
      'main',
      ['refs/heads/drift-ledger'],
      signal,
    )
    assert.deepEqual(
      answers.map(({ answer }) => answer),
      ['let-through'],
    )
    assert.equal(sprung(), false)
  })

  test('refuses to push to a clone whose hooks could refuse, wherever the hooks are', async () => {
    for (const folder of ['.git/hooks', '.husky']) {
      const { clone, sprung, root } = trappedClone()
      mkdirSync(join(clone, folder), { recursive: true })
      const mark = join(root, 'sprung')
      writeFileSync(
        join(clone, folder, 'pre-receive'),
        `#!/bin/sh\necho pre-receive >> '${mark}'\n`,
        { mode: 0o755 },
      )
      if (folder !== '.git/hooks')
        execFileSync('git', ['-C', clone, 'config', 'core.hooksPath', folder], {
          env: gitTestEnvironment(root),
        })
      const repository = openRepository({
        remote: clone,
        cacheDir: join(root, 'cache'),
        environment: gitTestEnvironment(root),
        baseBranch: 'main',
      })
      const base = await headOf(repository, signal)
      const to = await repository.write(changeOf(base, { 'a.yaml': 'a: 1\n' }))
      const refused = await repository
        .push([{ ref: DRAFT, from: null, to }], signal)
        .catch((thrown: unknown) => thrown)
      assert.ok(refused instanceof Failure && refused.code === 'BP4002')
      assert.match(
        refused.why,
        /pre-receive could reject the push, and hooks of a clone are not run/,
      )
      assert.equal(sprung(), false)
    }
  })

  test('by any command', async () => {
    const { clone, sprung, root } = trappedClone()
    const recording = join(root, 'recording')
    writeRecording(recording)
    const env = {
      ...gitTestEnvironment(root),
      XDG_CACHE_HOME: join(root, 'cache'),
      XDG_STATE_HOME: join(root, 'state'),
      BACKPORCH_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const live = ['--live', recording, '--cluster', 'prod']
    const codes: Record<string, number> = {}
    let reported = ''
    for (const words of [
      ['diff', ...live],
      ['scan', ...live],
      ['status'],
      ['get', 'packages'],
      ['history'],
      ['report'],
      ['explain', 'apps/web', ...live],
      ['render'],
      ['preview', '--head', 'main', ...live],
      ['check', ...live],
      ['restore', 'apps/web', ...live],
      ['adopt', 'apps/orders', ...live],
      ['approve', 'apps/web', '--yes', ...live],
      ['reject', 'apps/web', ...live],
      ['init', '--dry-run'],
      ['completion', 'bash'],
    ]) {
      const run = await runProgram(process.execPath, [PROGRAM, ...words], { cwd: clone, env })
      codes[words.filter((word) => !word.startsWith('-')).join(' ')] = run.code
      assert.equal(
        sprung(),
        false,
        `${words.join(' ')}: ${existsSync(join(root, 'sprung')) ? readFileSync(join(root, 'sprung'), 'utf8') : ''}`,
      )
      assert.doesNotMatch(run.stderr, /BP9001/, words.join(' '))
      reported += `${words.join(' ')}: ${run.stderr}\n`
    }
    // They did what they are for, and did not end before it.
    const names = ['diff', 'scan', 'status', 'render', 'restore apps/web']
    const found = names.map(
      (name) => Object.entries(codes).find(([words]) => words.startsWith(name))?.[1],
    )
    // The recording is of long ago: what the ledger says of it is no answer any more.
    // A function of apps/orders adds what its files leave out.
    assert.deepEqual(found, [1, 1, 3, 1, 0], reported)
  })
})
