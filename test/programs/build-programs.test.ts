import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildPrograms, ensureProgram, missingPrograms, programPath } from './build-programs.ts'
import { type FakeMachine, fakeMachine, writeScript } from './fake-go.ts'
import { findProgram } from './go-build.ts'
import { type GoProgram, PROGRAMS, type ProgramName } from './programs.ts'

const NAMES = Object.keys(PROGRAMS) as ProgramName[]
const report = (): void => {}
let machine: FakeMachine
let options: { readonly environment: FakeMachine['environment']; readonly report: () => void }

beforeEach(async () => {
  machine = await fakeMachine()
  options = { environment: machine.environment, report }
})
afterEach(() => machine.remove())

describe('a program of the list', () => {
  for (const name of NAMES)
    test(`${name} is built once with its extra files, and then works without Go and its module cache`, async () => {
      const { module, target = '.', tags, cgo, beside }: GoProgram = PROGRAMS[name]
      if (cgo === true) await machine.install('gcc')
      for (const folder of Object.keys(beside?.copies ?? {})) {
        const source = join(machine.directory, 'modules', beside?.module ?? '', folder, 'inner')
        await mkdir(source, { recursive: true })
        await writeFile(join(source, 'text'), folder)
      }
      await machine.installGo(
        `[ "$PWD/" = ${module} ] && [ "$CGO_ENABLED" = ${cgo === true ? 1 : 0} ] && [ "$GOWORK" = off ] || exit 1`,
      )
      const found = await ensureProgram(name, options)
      assert.ok(found.state === 'ready', found.state === 'unavailable' ? found.why : '')
      assert.ok(found.buildSeconds > 0)
      assert.equal(found.path, join(found.folder, name))
      const [call = '', ...others] = await machine.goCalls()
      const tagged = tags === undefined ? '' : `-tags ${tags} `
      assert.ok(
        call.startsWith(`build -mod=readonly -buildvcs=false -trimpath ${tagged}-ldflags -s -w`),
        call,
      )
      assert.ok(call.endsWith(` -o ${found.path}.unfinished ${target}`), call)
      assert.deepEqual(others, beside === undefined ? [] : [`mod download -json ${beside.module}`])

      await rm(join(machine.directory, 'bin'), { recursive: true })
      await rm(join(machine.directory, 'modules'), { recursive: true, force: true })
      assert.deepEqual(await ensureProgram(name, options), { ...found, buildSeconds: 0 })
      for (const [folder, copy] of Object.entries(beside?.copies ?? {}))
        assert.equal(
          await readFile(join(found.folder, beside?.folder ?? '', copy, 'inner', 'text'), 'utf8'),
          folder,
        )
    })

  test('has its version linked in, from go.mod', () => {
    const kubernetes = PROGRAMS.controlplane.variables(
      'require (\n\tk8s.io/kubernetes v1.99.7\n)\n',
    )
    assert.equal(kubernetes['k8s.io/component-base/version.gitVersion'], 'v1.99.7')
    assert.equal(kubernetes['k8s.io/client-go/pkg/version.gitMajor'], '1')
    assert.equal(kubernetes['k8s.io/client-go/pkg/version.gitMinor'], '99')
    assert.deepEqual(PROGRAMS.gitea.variables('\tcode.gitea.io/gitea v1.99.0\n'), {
      'main.version': '1.99.0',
    })
    assert.throws(
      () => PROGRAMS.gitea.variables('\tcode.gitea.io/sdk v1.99.0\n'),
      /does not require code\.gitea\.io\/gitea/,
    )
  })

  test('can be removed with its copies although the module cache is write-protected', async () => {
    const pages = join(
      machine.directory,
      'modules',
      PROGRAMS.gitea.beside.module,
      'templates',
      'repo',
    )
    await mkdir(pages, { recursive: true })
    for (const folder of ['options', 'public']) await mkdir(join(pages, '..', '..', folder))
    await writeFile(join(pages, 'home.tmpl'), 'a page', { mode: 0o444 })
    await chmod(pages, 0o555)
    await machine.install('gcc')
    await machine.installGo()
    const found = await ensureProgram('gitea', options)
    await chmod(pages, 0o755)
    assert.ok(found.state === 'ready')
    const copied = join(found.folder, 'static', 'templates', 'repo')
    assert.equal(await readFile(join(copied, 'home.tmpl'), 'utf8'), 'a page')
    assert.equal((await stat(copied)).mode & 0o200, 0o200)
  })
})

describe('a program that cannot be built', () => {
  const whyNot = async (name: ProgramName): Promise<string> => {
    const found = await ensureProgram(name, options)
    return found.state === 'unavailable' ? found.why : assert.fail('found')
  }

  test('reports whether Go or the C compiler is missing, and what to do', async () => {
    assert.match(
      await whyNot('gitea'),
      /^cannot run Gitea here: there is no build at .*, and there is no go on the PATH\. Install Go\.$/,
    )
    await machine.installGo()
    assert.match(
      await whyNot('gitea'),
      /^cannot run Gitea here: .* there is no gcc on the PATH, .* Install gcc and/,
    )
  })

  test('reports the output of the compiler as the reason', async () => {
    await machine.installGo('echo "main.go:1: no such thing" >&2; exit 1')
    assert.match(
      await whyNot('appliers'),
      /^cannot run the appliers here: go build ended with code 1: main\.go:1: no such thing$/,
    )
  })

  test('a program whose folders cannot be copied does not count as built', async () => {
    await machine.installGo()
    assert.match(
      await whyNot('source-controller'),
      /^cannot run Flux's source-controller here: ENOENT/,
    )
    assert.deepEqual(
      (await missingPrograms(['source-controller'], options.environment)).map(({ name }) => name),
      ['source-controller'],
    )
  })
})

describe('a build', () => {
  test('is one for several processes that need it at once', async () => {
    await machine.installGo('/bin/sleep 1')
    const ends = await Promise.all(
      [startFinding(), startFinding(), startFinding()].map((child) => once(child, 'exit')),
    )
    assert.deepEqual(
      ends.map(([code]) => code),
      [0, 0, 0],
    )
    assert.equal((await machine.goCalls()).length, 1)
  })

  test('leaves neither a process nor a lock nor temporary files when killed', async (t) => {
    const began = join(machine.directory, 'began')
    await machine.installGo(
      `echo half > "$GOTMPDIR/half"; echo "$$ $GOTMPDIR" > ${began}; /bin/sleep 60`,
    )
    const child = startFinding()
    t.after(() => child.kill('SIGKILL'))
    const [pid = '', temporary = ''] = (await untilWritten(began)).trim().split(' ')
    assert.ok(isAlive(Number(pid)) && (await exists(temporary)))
    child.kill('SIGKILL')
    await until(
      `process ${pid} and its files are gone`,
      async () => !isAlive(Number(pid)) && !(await exists(temporary)),
    )

    await machine.installGo()
    const found = await ensureProgram('appliers', options)
    assert.ok(found.state === 'ready' && found.buildSeconds > 0)
  })

  test('runs at the lowest priority', { skip: process.platform !== 'linux' }, async () => {
    const nice = (await findProgram('nice', process.env)) ?? assert.fail('there is no nice')
    await mkdir(join(machine.directory, 'bin'))
    await symlink(nice, join(machine.directory, 'bin', 'nice'))
    // The kernel groups processes by session where this is 1.
    const groups =
      (
        await readFile('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').catch(() => '0')
      ).trim() === '1'
    const isLow = 'read -r group < /proc/self/autogroup && [ "$group" != "${group% nice 19}" ]'
    const untilLow = `tries=0; until ${isLow}; do tries=$((tries+1)); [ $tries -le 300 ] || exit 1; /bin/sleep 0.1; done`
    await machine.installGo(`[ "$(nice)" = 19 ] || exit 1\n${groups ? untilLow : ''}`)
    const found = await ensureProgram('appliers', options)
    assert.equal(found.state, 'ready')
  })
})

describe('builds of several programs', () => {
  test('lists missing programs with their build time before building anything', async () => {
    await writeScript(await programPath('helm3', options.environment), '')
    const missing = await missingPrograms(['helm4', 'helm3', 'sops', 'helm4'], options.environment)
    assert.deepEqual(
      missing.map(({ name }) => name),
      ['helm4', 'sops'],
    )
    for (const { expectedSeconds } of missing) assert.ok(expectedSeconds > 1)
    assert.deepEqual(await machine.goCalls(), [])
  })

  test('reports each program when it is ready: existing ones at once, the others built in order', async () => {
    await writeScript(await programPath('helm3', options.environment), '')
    // Go waits for the test's word.
    await machine.installGo(
      `while ! read -r word < ${machine.directory}/go-on; do /bin/sleep 0.05; done; /bin/rm ${machine.directory}/go-on`,
    )
    const said: string[] = []
    const builds = buildPrograms(['helm4', 'helm3', 'sops'], {
      ...options,
      report: (message) => said.push(message),
    })
    assert.equal((await builds.ready('helm3')).state, 'ready')
    await until('a first build', async () => builds.progress() !== undefined)
    assert.match(
      builds.progress()?.text ?? '',
      /^Helm 4 \(1 of 2\): \d+ s of about \d+ s, about .* left for all$/,
    )
    assert.deepEqual(builds.progress()?.name, 'helm4')

    await writeFile(join(machine.directory, 'go-on'), 'on\n')
    const [helm4] = await Promise.all([
      builds.ready('helm4'),
      until('a second build', async () => (await machine.goCalls()).length === 2),
    ])
    assert.ok(helm4.state === 'ready' && helm4.buildSeconds > 0)
    assert.equal(builds.progress()?.place, 2)
    await writeFile(join(machine.directory, 'go-on'), 'on\n')
    await builds.done
    assert.equal((await builds.ready('sops')).state, 'ready')
    assert.equal(builds.progress(), undefined)
    assert.deepEqual(
      said.map((message) => message.replace(/about \d+ s, into .*/, '')),
      ['building Helm 4 (1 of 2), ', 'building SOPS (2 of 2), '],
    )
  })

  test('a failed build does not stop the following ones', async () => {
    await machine.installGo('case "$*" in *helm/v3*) exit 1 ;; esac')
    const builds = buildPrograms(['helm3', 'helm4'], options)
    await builds.done
    assert.equal((await builds.ready('helm3')).state, 'unavailable')
    assert.equal((await builds.ready('helm4')).state, 'ready')
  })

  test('a signal ends the current build, its processes, and waiting builds', async () => {
    const began = join(machine.directory, 'began')
    const finished = join(machine.directory, 'finished')
    await machine.installGo(`echo $$ > ${began}; /bin/sleep 20; echo > ${finished}`)
    const ending = new AbortController()
    const builds = buildPrograms(['helm3', 'helm4'], { ...options, signal: ending.signal })
    const pid = (await untilWritten(began)).trim()
    ending.abort()
    await builds.done
    for (const name of ['helm3', 'helm4'] as const) {
      const found = await builds.ready(name)
      assert.match(
        found.state === 'unavailable' ? found.why : '',
        /^cannot run Helm [34] here: the build was ended$/,
      )
    }
    assert.ok(!isAlive(Number(pid)) && !(await exists(finished)))
    assert.equal((await machine.goCalls()).length, 1)
  })
})

function startFinding() {
  const code = `import { ensureProgram } from ${JSON.stringify(new URL('build-programs.ts', import.meta.url).href)}
    const found = await ensureProgram('appliers', { report: () => {} })
    process.exit(found.state === 'ready' ? 0 : 1)`
  return spawn(process.execPath, ['--input-type=module', '--no-warnings', '--eval', code], {
    env: machine.environment,
    stdio: 'inherit',
  })
}

async function untilWritten(path: string): Promise<string> {
  const read = (): Promise<string> => readFile(path, 'utf8').catch(() => '')
  await until(`${path} is written`, async () => (await read()).endsWith('\n'))
  return read()
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 2_400; attempt += 1) {
    if (await isTrue()) return
    await sleep(50)
  }
  assert.fail(`waited two minutes in vain: ${what}`)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
