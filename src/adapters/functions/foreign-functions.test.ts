import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { setVariable } from '../../../test/fakes/set-variable.ts'
import { ToyPrograms, toyPackage } from '../../../test/fakes/toy-functions.ts'
import { HANG } from '../../../test/processes/hang-command.ts'
import { hasEnded, standStill } from '../../../test/waiting/stand-still.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import { FUNCTION_LIMITS } from './function-limits.ts'
import { runProgram } from './run-program.ts'
import { WorkerRenderer } from './worker-renderer.ts'

const MEBIBYTE = 1024 * 1024
const never = new AbortController().signal
const programs = new ToyPrograms()
let restore = (): void => undefined
before(() => {
  // Folders of programs are made here, and seen to be gone at the end.
  restore = setVariable('TMPDIR', programs.folder)
})
after(() => {
  restore()
  programs.remove()
})

const NAMES =
  'good hangs forks eats prints complains dies kills-itself fails reports silent says-hello says-bytes empties leaves-folder no-kind rekinds moves makes rolls orders waits'
const OPTIONS = {
  allowed: { exec: NAMES.split(' ').map((name) => programs.path(name)), images: [] },
  engine: undefined,
  environment: { PATH: process.env['PATH'], GITHUB_TOKEN: 'secret' },
  limits: { ...FUNCTION_LIMITS, milliseconds: 20_000, memory: 96 * MEBIBYTE, output: 2 * MEBIBYTE },
  nextSecond: false,
} as const
/** One for all programs: what each does to it is nothing to the others. */
const renderer = new WorkerRenderer(OPTIONS)

/** Writes the program, which is one of those that are allowed, and renders a package with it. */
async function run(
  name: string,
  body: string,
  signal: AbortSignal = never,
): Promise<TurnRendering> {
  return renderer.render('apps/web', toyPackage([`exec: ${programs.add(name, body)}`]), signal)
}

function allowing(
  exec: readonly string[],
  more: Partial<ConstructorParameters<typeof WorkerRenderer>[0]> = {},
): WorkerRenderer {
  return new WorkerRenderer({ ...OPTIONS, allowed: { exec, images: [] }, ...more })
}

function notified(rendering: TurnRendering): readonly string[] {
  return 'failures' in rendering
    ? rendering.failures.map(({ code, where, why }) => `${code} ${where}: ${why}`)
    : ['rendered']
}

function notesOf(rendering: TurnRendering): readonly string[] {
  return 'failures' in rendering
    ? assert.fail(rendering.failures[0].message)
    : rendering.desired.notes.map(formatNoteSentence)
}

function isRunning(id: number): boolean {
  try {
    // One that has ended and was not waited for is no more.
    return !/\) Z/.test(readFileSync(`/proc/${id}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** The ids in a file that a program writes, a line each: it is there, and empty, before they are. */
function idsIn(file: string): readonly number[] {
  return existsSync(programs.path(file))
    ? readFileSync(programs.path(file), 'utf8').split('\n').slice(0, -1).map(Number)
    : []
}

async function assertGone(file: string): Promise<void> {
  const ids = idsIn(file)
  assert.ok(ids.length > 0 && ids.every((id) => id > 0))
  await waitUntil('its processes are gone', () => !ids.some(isRunning), {
    describe: () => `${ids.filter(isRunning)}`,
  })
}

test('an allowed program runs twice per input, in an empty folder with a minimal environment', async () => {
  const rendering = await run(
    'good',
    'echo run >> $here/runs; env | sort > $here/env; ls -A | wc -l > $here/files; sed "s/blue/green/"',
  )
  assert.deepEqual(notesOf(rendering), [])
  assert.deepEqual(
    'desired' in rendering && rendering.desired.resources.map(({ object }) => object['data']),
    [{ color: 'green' }],
  )
  const location = { path: 'apps/web/web.yaml', document: 0, item: undefined, line: 1 }
  assert.deepEqual(
    'desired' in rendering && rendering.desired.resources.map(({ location }) => location),
    [location],
  )
  const names = readFileSync(programs.path('env'), 'utf8')
    .split('\n')
    .map((line) => line.split('=')[0])
  assert.deepEqual(
    names.filter((name) => name !== '' && !['_', 'PWD', 'OLDPWD', 'SHLVL'].includes(name ?? '')),
    ['BACKPORCH_FUNCTION', 'HOME', 'LANG', 'PATH', 'TMPDIR', 'TZ'],
  )
  assert.equal(readFileSync(programs.path('files'), 'utf8').trim(), '0')
  assert.equal(readFileSync(programs.path('runs'), 'utf8'), 'run\nrun\n')
  assert.ok(
    !existsSync(/^TMPDIR=(.*)$/m.exec(readFileSync(programs.path('env'), 'utf8'))?.[1] ?? '/'),
  )
})

test('output is cached by input: another package with the same input runs nothing', async () => {
  const path = programs.add('counts', 'echo run >> $here/counted; cat')
  const one = allowing([path])
  const files = toyPackage([`exec: ${path}`])
  const counted = (): number =>
    readFileSync(programs.path('counted'), 'utf8').split('\n').length - 1
  await one.render('apps/web', files, never)
  assert.equal(counted(), 2)
  await one.render('apps/web', files, never)
  await one.render('apps/other', files, never)
  assert.equal(counted(), 2)
  await one.render(
    'apps/web',
    toyPackage([`exec: ${path}`], {
      'more.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n',
    }),
    never,
  )
  assert.equal(counted(), 4)
})

describe('R1: a program that', () => {
  test('hangs is killed at the limit', async () => {
    const impatient = new WorkerRenderer({
      ...OPTIONS,
      limits: { ...OPTIONS.limits, milliseconds: 3_000 },
    })
    const hangs = programs.add('hangs', `echo $$ > $here/hanging; ${HANG}`)
    const rendering = await impatient.render('apps/web', toyPackage([`exec: ${hangs}`]), never)
    assert.deepEqual(notified(rendering), [
      'BP1203 apps/web/Kptfile:7 (mutator 1, hangs): it did not end within 3 s, and was killed',
    ])
    await assertGone('hanging')
  })

  test('leaves children behind, in its group or outside it, has them killed', async () => {
    const rendering = await run(
      'forks',
      `${HANG} & echo $! >> $here/forked; setsid ${HANG} & echo $! >> $here/forked; sleep 0.1; cat`,
    )
    assert.deepEqual(notified(rendering), ['rendered'])
    await assertGone('forked')
  })

  test('exceeds its memory limit, itself or through a child, is killed', async () => {
    const rendering = await run(
      'eats',
      'head -c 1000000000 /dev/zero | tail -c 900000000 > /dev/null',
    )
    assert.deepEqual(notified(rendering), [
      'BP1203 apps/web/Kptfile:7 (mutator 1, eats): it holds more than 96 MiB of memory, and was killed',
    ])
  })

  test('prints without end is killed', async () => {
    const rendering = await run('prints', 'head -c 1073741824 /dev/zero; touch $here/printed')
    assert.deepEqual(notified(rendering), [
      'BP1203 apps/web/Kptfile:7 (mutator 1, prints): it printed more than 2 MiB, and was killed',
    ])
    assert.ok(!existsSync(programs.path('printed')))
  })

  test('floods standard error still renders', async () => {
    assert.deepEqual(notified(await run('complains', 'head -c 20000000 /dev/zero >&2; cat')), [
      'rendered',
    ])
  })

  test('exits like a killed program is reported as over a limit', async () => {
    const killed = /^BP1203 .*it was killed \((exit code 137|SIGKILL)\)/
    assert.match(notified(await run('dies', 'exit 137')).join(), killed)
    assert.match(notified(await run('kills-itself', 'kill -9 $$')).join(), killed)
  })

  test('fails is reported with its results, or else with its standard error', async () => {
    assert.deepEqual(notified(await run('fails', 'echo "no such luck" >&2; exit 3')), [
      'BP1202 apps/web/Kptfile:7 (mutator 1, fails): no such luck',
    ])
    const reported =
      'cat > /dev/null; printf "apiVersion: config.kubernetes.io/v1\\nkind: ResourceList\\nitems: []\\nresults:\\n- message: too blue\\n  severity: error\\n"; exit 1'
    assert.deepEqual(notified(await run('reports', reported)), [
      'BP1202 apps/web/Kptfile:7 (mutator 1, reports): too blue',
    ])
  })

  test('prints no package is reported with the reason', async () => {
    for (const [name, body, why] of [
      ['silent', 'cat > /dev/null', /it printed nothing$/],
      ['says-hello', 'echo hello', /the text is not one ResourceList/],
      ['says-bytes', 'printf "a: \\377\\376\\n  - ]["', /standard output: /],
      [
        'empties',
        'echo "{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: []}"',
        /the function returned no resources$/,
      ],
      [
        'leaves-folder',
        'sed "s#path: .*web.yaml.*#path: ../web.yaml#"',
        /must not modify resources outside of package/,
      ],
      ['no-kind', 'sed "s/kind: ConfigMap/kinds: ConfigMap/"', /kind/],
    ] as const) {
      const [only = '', ...more] = notified(await run(name, body))
      assert.deepEqual(more, [])
      assert.match(only, /^BP1204 apps\/web\/Kptfile:7 /, name)
      assert.match(only, why, name)
    }
  })

  test('returns more objects than the limit is rejected', async () => {
    const many = allowing(['cat'], { limits: { ...OPTIONS.limits, objects: 1 } })
    assert.match(
      notified(await many.render('a', toyPackage(['exec: cat']), never)).join(),
      /^BP1203 .* it returned 2 objects, and the limit is 1$/,
    )
  })

  test('changes the identity of objects renders with a note', async () => {
    assert.deepEqual(notesOf(await run('rekinds', 'sed "s/kind: ConfigMap/kind: Gadget/"')), [
      'apps/web/Kptfile:7 (mutator 1, rekinds): it changed the kind of one object',
    ])
    assert.deepEqual(notesOf(await run('moves', 'sed "s/namespace: shop/namespace: other/"')), [
      'apps/web/Kptfile:7 (mutator 1, moves): it changed the namespace of one object',
    ])
    const make =
      'sed "s/^items:/items:\\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: made}}/"'
    const created = await run('makes', make)
    assert.deepEqual(notesOf(created), [
      'apps/web/Kptfile:7 (mutator 1, makes): it made one object',
    ])
    const location =
      'desired' in created &&
      created.desired.resources.find(({ id }) => id.name === 'made')?.location
    assert.deepEqual(location, {
      path: 'apps/web/Kptfile',
      document: 0,
      item: undefined,
      line: 7,
      step: 'makes',
    })
  })
})

test('R2: a program with random output is rejected, and is not run again', async () => {
  const random =
    'echo run >> $here/randomly; sed "s/blue/$(od -An -N8 -tx8 /dev/urandom | tr -d " ")x/"'
  assert.match(
    notified(await run('rolls', random)).join(),
    /^BP1205 apps\/web\/Kptfile:7 \(mutator 1, rolls\): two runs with the same input returned different objects/,
  )
  const dated = programs.add('dates', 'sed "s/blue/at $(date +%s)/"')
  const patient = allowing([dated], { nextSecond: true })
  assert.match(
    notified(await patient.render('a', toyPackage([`exec: ${dated}`]), never)).join(),
    /^BP1205 /,
  )
  assert.equal(readFileSync(programs.path('randomly'), 'utf8').split('\n').length - 1, 2)
})

test('R2: detects a timestamp in the output when the first run crosses a second', async () => {
  const late =
    'touch $here/crossed; began=$(date +%s); while [ $(date +%s) = $began ]; do sleep 0.01; done'
  const dated = programs.add(
    'crosses',
    `[ -e $here/crossed ] || { ${late}; }; sed "s/blue/at $(date +%s)/"`,
  )
  const patient = allowing([dated], { nextSecond: true })
  assert.match(
    notified(await patient.render('a', toyPackage([`exec: ${dated}`]), never)).join(),
    /^BP1205 /,
  )
})

test('outputs that differ only in key order or log text are equal', async () => {
  const body = `n=$(cat $here/order 2>/dev/null || echo 1); echo $((n + 1)) > $here/order
  if [ $((n % 2)) = 0 ]; then sed "s/^items:/apiVersion: config.kubernetes.io\\/v1\\nitems:/;1d"; else cat; fi; echo $n >&2`
  assert.deepEqual(notified(await run('orders', body)), ['rendered'])
})

test('R3: reports a missing program', async () => {
  const gone = allowing(['/not/there', 'not-on-the-path'])
  for (const [exec, why, remedy] of [
    ['/not/there', '/not/there does not exist or cannot be run', 'install it, or correct the path'],
    [
      'not-on-the-path',
      'no program not-on-the-path is on the PATH',
      'install it, or correct the PATH',
    ],
  ] as const) {
    const rendering = await gone.render('a', toyPackage([`exec: ${exec}`]), never)
    const [failure] = 'failures' in rendering ? rendering.failures : assert.fail('it rendered')
    assert.deepEqual(
      [failure.code, failure.why, failure.remedy],
      ['BP1201', `the program "${exec}": ${why}`, remedy],
    )
  }
})

test('a program that is not allowed never runs, however the package names it', async () => {
  const path = programs.add('sneaks', 'touch $here/sneaked; cat')
  for (const exec of [
    path,
    `"sh -c 'touch ${programs.path('sneaked')}'"`,
    `/bin/sh ${path}`,
    'sneaks',
  ])
    assert.match(
      notified(await renderer.render('a', toyPackage([`exec: ${exec}`]), never)).join(),
      /^BP1206 a\/Kptfile:7 /,
    )
  assert.ok(!existsSync(programs.path('sneaked')))
})

test('an abort kills running programs', async () => {
  const stop = new AbortController()
  const rendering = run('waits', `echo $$ > $here/waiting; ${HANG}`, stop.signal)
  const refused = assert.rejects(rendering, /interrupted/)
  await waitUntil('it runs', () => idsIn('waiting').length > 0)
  stop.abort(new Error('interrupted'))
  await refused
  await assertGone('waiting')
})

test('running programs are killed when backporch dies', async () => {
  const path = programs.add(
    'stays',
    `echo $$ > $here/staying; setsid ${HANG} & echo $! >> $here/staying; ${HANG}`,
  )
  const module = JSON.stringify(new URL('./run-program.ts', import.meta.url).href)
  const script = `
    import { existsSync, readFileSync } from 'node:fs'
    import { runProgram } from ${module}
    const limits = { milliseconds: 60000, memory: 1e9, output: 1e6, objects: 1 }
    runProgram({ program: ${JSON.stringify(path)}, words: [], input: '', environment: { PATH: process.env.PATH }, limits }, new AbortController().signal)
    const staying = ${JSON.stringify(programs.path('staying'))}
    setInterval(() => { if (existsSync(staying) && readFileSync(staying, 'utf8').split('\\n').length === 3) process.exit(0) }, 10)`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  await assertGone('staying')
})

test('a program that ended while this process was suspended does not time out', async () => {
  const program = programs.add(
    'quick',
    'echo $$ > $here/quick-id; while [ ! -e $here/go ]; do sleep 0.01; done; echo done',
  )
  const limits = { ...OPTIONS.limits, milliseconds: 1_000 }
  const { environment } = OPTIONS
  const ended = runProgram({ program, words: [], input: '', environment, limits }, never)
  await waitUntil('it runs', () => idsIn('quick-id').length > 0)
  writeFileSync(programs.path('go'), '')
  standStill(() => hasEnded(programs.path('quick-id')), 1_200)
  assert.deepEqual(await ended, { is: 'ended', exitCode: 0, stdout: 'done\n', stderr: '' })
})

test('no temporary folder of a program remains', async () => {
  const left = () =>
    readdirSync(programs.folder).filter((name) => name.startsWith('backporch-function-'))
  await waitUntil('none is left', () => left().length === 0, { describe: () => left().join('\n') })
})
