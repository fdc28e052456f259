import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { after, beforeEach, test } from 'node:test'
import { ToyPrograms, toyPackage } from '../../../test/fakes/toy-functions.ts'
import { HANG } from '../../../test/processes/hang-command.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import type { TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import { buildContainerArgs } from './container-engine.ts'
import { FUNCTION_LIMITS } from './function-limits.ts'
import { WorkerRenderer } from './worker-renderer.ts'

const never = new AbortController().signal
const programs = new ToyPrograms()
after(() => programs.remove())
beforeEach(() => rmSync(programs.path('log'), { force: true }))

const IMAGE = `reg.example/fn/paint@sha256:${'a'.repeat(64)}`
const HAS = '[ "$1 $2" = "image inspect" ] && exit 0'
const LACKS = '[ "$1 $2" = "image inspect" ] && exit 1'

/** A docker that says what it was asked, and does `body`. */
function engine(body: string, name = 'docker'): void {
  programs.add(name, `echo "$@" >> $here/log\n${body}`)
}

function renderer(
  more: Partial<ConstructorParameters<typeof WorkerRenderer>[0]> = {},
): WorkerRenderer {
  return new WorkerRenderer({
    allowed: { exec: [], images: ['reg.example/fn/'] },
    engine: undefined,
    environment: { PATH: `${programs.folder}:/usr/bin:/bin`, DOCKER_HOST: 'tcp://engine' },
    limits: FUNCTION_LIMITS,
    nextSecond: false,
    ...more,
  })
}
const shared = renderer()

function log(): readonly string[] {
  return readFileSync(programs.path('log'), 'utf8').trim().split('\n')
}

function reported(rendering: TurnRendering): readonly string[] {
  return 'failures' in rendering
    ? rendering.failures.map(({ code, why }) => `${code} ${why}`)
    : ['rendered']
}

/** Each with a package of its own, which nothing is remembered of. */
let packages = 0
function files(image = IMAGE) {
  packages += 1
  return toyPackage([`image: '${image}'`], {
    'notes.txt': String(packages),
    'own.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n${packages}}\n`,
  })
}

test('an image runs without network, privileges or a writable root, and within the given limits', () => {
  assert.deepEqual(
    buildContainerArgs('backporch-1', IMAGE, FUNCTION_LIMITS).join(' ').split(' --'),
    [
      'run',
      'rm -i',
      'name backporch-1',
      'pull never',
      'network none',
      'user 65534:65534',
      'security-opt=no-new-privileges',
      'cap-drop ALL',
      'read-only',
      'tmpfs /tmp:rw,size=64m,mode=1777',
      'memory 268435456',
      'memory-swap 268435456',
      'pids-limit 128',
      `log-driver none ${IMAGE}`,
    ],
  )
})

test('a missing image is pulled once, and its function runs twice per input', async () => {
  engine(
    `${LACKS}; [ "$1" = pull ] && exit 0; [ "$DOCKER_HOST" = tcp://engine ] || exit 9; sed s/blue/green/`,
  )
  assert.deepEqual(reported(await shared.render('a', files(), never)), ['rendered'])
  assert.deepEqual(
    log().map((line) => line.split(' ')[0]),
    ['image', 'pull', 'run', 'run'],
  )
  assert.equal(log()[1], `pull --quiet ${IMAGE}`)
  const [one, other] = log()
    .slice(2)
    .map((line) => /--name (backporch-[0-9a-f]{16}) .* (\S+)$/.exec(line))
  assert.equal(one?.[2], IMAGE)
  assert.notEqual(one?.[1], other?.[1])
  await shared.render('a', files(), never)
  assert.deepEqual(
    log()
      .slice(4)
      .map((line) => line.split(' ')[0]),
    ['run', 'run'],
  )
})

test('R3: reports a missing runtime when an image cannot be pulled or the engine is unreachable', async () => {
  const gone = async (image: string, by = shared): Promise<string> => {
    const rendering = await by.render('a', files(image), never)
    const [{ code, why, remedy }] =
      'failures' in rendering ? rendering.failures : assert.fail('it rendered')
    return `${code} ${why}; ${remedy}`
  }
  const [other, third] = [`${IMAGE.slice(0, -1)}b`, `${IMAGE.slice(0, -1)}c`]
  engine(
    `${LACKS}; [ "$1" = ps ] && exit 0; echo "Error: no such manifest" >&2; echo more >&2; exit 1`,
  )
  assert.equal(
    await gone(other),
    `BP1201 the image ${other}: docker pull failed: Error: no such manifest; correct the name of the image, or let this machine pull it`,
  )
  // An engine that is not started answers nothing at all.
  engine('echo "Cannot connect to the daemon" >&2; exit 1')
  assert.equal(
    await gone(third),
    `BP1201 the image ${third}: docker pull failed: Cannot connect to the daemon; start it: docker does not answer`,
  )
  engine(`${HAS}; echo "Cannot connect to the daemon" >&2; exit 125`)
  assert.equal(
    await gone(IMAGE),
    `BP1201 the image ${IMAGE}: docker run failed: Cannot connect to the daemon; start it: docker does not answer`,
  )
  engine(`${HAS}; [ "$1" = ps ] && exit 0; echo "unknown flag" >&2; exit 125`)
  assert.equal(
    await gone(IMAGE),
    `BP1201 the image ${IMAGE}: docker run failed: unknown flag; correct the reported error`,
  )
  const none = renderer({ environment: { PATH: '/not/there' } })
  assert.equal(
    await gone(IMAGE, none),
    `BP1201 the image ${IMAGE}: neither docker nor podman is on the PATH; install one of them`,
  )
})

test('requires the container engine that the operator names', async () => {
  engine(HAS)
  assert.throws(() => renderer({ engine: 'podman', environment: { PATH: programs.folder } }), {
    code: 'BP1001',
  })
  engine(`${HAS}; sed s/blue/green/`, 'podman')
  engine('exit 1')
  const podman = renderer({ engine: 'podman' })
  assert.deepEqual(reported(await podman.render('a', files(), never)), ['rendered'])
})

test('a failing function is reported as a function failure, not an engine failure', async () => {
  engine(`${HAS}; echo "no color" >&2; exit 1`)
  assert.deepEqual(reported(await shared.render('a', files(), never)), ['BP1202 no color'])
})

test('reports a container that the engine killed for its memory use', async () => {
  engine(`${HAS}; exit 137`)
  assert.match(
    reported(await shared.render('a', files(), never)).join(),
    /^BP1203 it was killed \(exit code 137\)/,
  )
})

test('a container is removed after a timeout and after an abort, since the engine outlives its client', async () => {
  engine(`${HAS}; [ "$1" = rm ] && exit 0; ${HANG}`)
  const hasty = renderer({ limits: { ...FUNCTION_LIMITS, milliseconds: 3_000 } })
  assert.match(
    reported(await hasty.render('a', files(), never)).join(),
    /^BP1203 it did not end within 3 s/,
  )
  await removed(1)
  const stop = new AbortController()
  const runs = () => log().filter((line) => line.startsWith('run ')).length
  const before = runs()
  const refused = assert.rejects(shared.render('a', files(), stop.signal), /interrupted/)
  await waitUntil('the container runs', () => runs() > before)
  stop.abort(new Error('interrupted'))
  await refused
  await removed(2)
})

async function removed(times: number): Promise<void> {
  const named = (pattern: RegExp) => log().flatMap((line) => pattern.exec(line)?.[1] ?? [])
  // What an earlier test left running may be removed just now as well.
  const left = () =>
    named(/^run .*--name (\S+)/).filter((name) => !named(/^rm --force (\S+)/).includes(name))
  const removals = () => named(/^rm --force (\S+)/).length
  const describe = () => log().join('\n')
  await waitUntil(
    `${times} containers are removed, and none is left`,
    () => removals() >= times && left().length === 0,
    { describe },
  )
}
