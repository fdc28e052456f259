import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { FunctionCall, FunctionLibrary } from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import { createYamlMap, createYamlText, findTextAt } from '@backporch/kyaml/yaml'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { ToyPrograms } from '../../../test/fakes/toy-functions.ts'
import { KPTFILE, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { WorkerRenderer } from '../../adapters/functions/worker-renderer.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { type Build, type BuildAnswer, NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import { approve } from '../turn/decide.ts'
import { computeWithAnswers } from './with-answers.ts'

const never = new AbortController().signal
const programs = new ToyPrograms()
after(() => programs.remove())

const counted = (): number => readFileSync(programs.path('runs'), 'utf8').split('\n').length - 1
const kptfile = (name: string): string =>
  `${KPTFILE}pipeline:\n  mutators:\n    - exec: ${programs.path(name)}\n`

function rendererOf(...names: readonly string[]): WorkerRenderer {
  const allowed = { exec: names.map((name) => programs.path(name)), images: [] }
  return new WorkerRenderer({
    allowed,
    engine: undefined,
    environment: { PATH: process.env['PATH'] },
    nextSecond: false,
  })
}

test('a proposal is planned and approved with an external program, run twice per input', async () => {
  programs.add('passes', 'echo run >> $here/runs; cat')
  const renderer = rendererOf('passes')
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/Kptfile': kptfile('passes') })
  world.edit(WEB, 'spec.replicas', 5)
  const plan = await world.plan({
    renderer,
    resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
  })
  assert.equal(plan.outcome, 'created')
  assert.match(
    world.repository.text(plan.branch, 'apps/web/deployment.yaml') ?? '',
    /replicas: 5 # for the day/,
  )
  const runs = counted()
  assert.equal(runs % 2, 0)
  assert.ok(runs >= 4)

  world.pass(1)
  const decider = { name: 'Ada', at: world.cluster.now, reason: undefined }
  await approve(
    world.ports,
    { turn: world.request({ renderer }), decider, confirm: async () => true },
    never,
  )
  assert.match(
    world.repository.text('main', 'apps/web/deployment.yaml') ?? '',
    /replicas: 5 # for the day/,
  )
  assert.equal(counted(), runs, 'every input of the decision was answered before')
})

test('a package whose function breaks a limit or is not allowed fails alone', async () => {
  programs.add('stops', 'exit 137')
  const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n'
  const world = new TurnWorld('{mode: Propose}', {
    'apps/stops/Kptfile': kptfile('stops').replace('name: web', 'name: stops'),
    'apps/stops/bad/other.yaml': object,
    'apps/sneaks/Kptfile': kptfile('sneaks').replace('name: web', 'name: sneaks'),
    'apps/sneaks/bad/other.yaml': object.replace('name: other', 'name: third'),
  })
  world.edit(WEB, 'spec.replicas', 5)
  const { units } = await world.scan({ renderer: rendererOf('stops') })
  assert.deepEqual(
    units.map((unit) =>
      unit.state === 'failed'
        ? [unit.packagePath, unit.failures[0].code, unit.failures[0].where]
        : [unit.unit.packagePath, unit.plan.outcome],
    ),
    [
      ['apps/sneaks', 'BP1206', 'apps/sneaks/Kptfile:7 (mutator 1, sneaks)'],
      ['apps/stops', 'BP1203', 'apps/stops/Kptfile:7 (mutator 1, stops)'],
      ['apps/web', 'created'],
    ],
  )
})

test('a plan with endless questions is abandoned, and other errors are rethrown', async () => {
  let fetched = 0
  const renderer: PackageRenderer = Object.assign(new InProcessRenderer(), {
    fetch: async () => {
      fetched += 1
    },
  })
  const step = {
    function: { exec: 'mine', line: 3 },
    kptfile: 'Kptfile',
    list: 'mutators',
    index: 0,
  }
  const call = { step, input: { items: [], config: undefined } } as unknown as FunctionCall
  const ask = () => {
    throw new Unanswered({ kind: 'function', call })
  }
  await assert.rejects(computeWithAnswers(renderer, never, ask), {
    code: 'BP1203',
    where: 'Kptfile:3 (mutator 1, mine)',
  })
  assert.equal(fetched, 50)
  await assert.rejects(
    computeWithAnswers(renderer, never, () => assert.fail('its own')),
    /its own/,
  )
  assert.equal(await computeWithAnswers(renderer, never, () => 7), 7)
  const refuses = Object.assign(new InProcessRenderer(), {
    library: { answer: ask },
    fetch: async () => {
      throw new Failure({ code: 'BP1203', what: 'too slow', why: 'x', remedy: 'y' })
    },
  })
  const given = await computeWithAnswers(refuses, never, ({ functions }) => functions.answer(call))
  assert.equal('failure' in given && given.failure.what, 'too slow')
})

test('a proposal knows beforehand what an external program prevents from adopting', async () => {
  // It writes what is in git whatever the file says.
  programs.add('insists', 'sed "s/replicas: .*/replicas: 3/"')
  const renderer = rendererOf('insists')
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/Kptfile': kptfile('insists') })
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB, 'spec.minReadySeconds', 7)
  const [unit] = (await world.scan({ renderer })).units
  assert.ok(unit?.state === 'planned')
  assert.deepEqual(
    unit.plan.report.spec.changes
      .map(({ path, fingerprint }) => [path, unit.notAdoptable.has(fingerprint)])
      .sort(),
    [
      ['spec.minReadySeconds', false],
      ['spec.replicas', true],
    ],
  )
})

test('after fifty runs new function questions are refused, and the plan completes', async () => {
  const base = new InProcessRenderer()
  const known = new Set<string>()
  const library: FunctionLibrary = {
    answer: (call) => {
      if (!known.has(findTextAt(call.input.config, 'n') ?? ''))
        throw new Unanswered({ kind: 'function', call })
      return { items: [], results: [], stderr: '', exitCode: 0 }
    },
  }
  const renderer: PackageRenderer = {
    attributed: true,
    library,
    render: (path, files) => base.render(path, files),
    fetch: async ({ input }) => void known.add(findTextAt(input.config, 'n') ?? ''),
  }
  const step = {
    function: { exec: 'mine', line: 3 },
    kptfile: 'Kptfile',
    list: 'mutators',
    index: 0,
  }
  const call = (n: number) =>
    ({
      step,
      input: { items: [], config: createYamlMap([['n', createYamlText(String(n))]]) },
    }) as unknown as FunctionCall
  const [answers, exhausted] = await computeWithAnswers(renderer, never, (requested) => {
    const all = Array.from({ length: 60 }, (_, n) => requested.functions.answer(call(n)))
    return [all, requested.exhausted]
  })
  assert.equal(known.size, 50)
  assert.ok(exhausted)
  assert.deepEqual(
    answers.flatMap((answer, n) => ('failure' in answer ? [[n, answer.failure.code]] : [])),
    Array.from({ length: 10 }, (_, n) => [50 + n, 'BP1203']),
  )
})

test('a program that fails on an edited input rejects that edit, and drift is still recorded', async () => {
  programs.add(
    'picky',
    'input=$(cat); case "$input" in *"replicas: 5"*) exit 137;; esac; printf "%s\\n" "$input"',
  )
  const renderer = rendererOf('picky')
  const world = new TurnWorld('{mode: Propose, decide: {defaultPlan: Adopt}}', {
    'apps/web/Kptfile': kptfile('picky'),
  })
  world.edit(WEB, 'spec.replicas', 5)
  const { outcome, record, notes } = await world.plan({ renderer })
  assert.deepEqual([outcome, record?.spec.plan], ['created', 'Restore'])
  assert.match(
    notes.map(({ text }) => text).join(),
    /^spec.replicas of Deployment shop\/web is planned as Restore and not as Adopt: with the edit of .* the package does not render/,
  )
  const wished = world.plan({
    renderer,
    resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
  })
  await assert.rejects(wished, { code: 'BP2001' })
})

test('missing builds run together, and one with an uncacheable failure ends the plan', async () => {
  const [one, other] = ['a', 'b'].map(
    (folder): Build => ({ tool: 'command', folder, command: ['print'], files: [] }),
  )
  assert.ok(one !== undefined && other !== undefined)
  const built: string[] = []
  const build = async ({ folder }: Build): Promise<BuildAnswer> => {
    built.push(folder)
    const failure = {
      code: 'BP1209',
      what: 'it failed',
      why: 'killed',
      remedy: 'try again',
      retry: 'backoff',
    } as const
    return built.length > 2 ? { failure } : { text: folder }
  }
  const base = new InProcessRenderer()
  const renderer: PackageRenderer = {
    attributed: true,
    library: base.library,
    render: (path, files) => base.render(path, files),
    fetch: () => base.fetch(),
    builder: { library: NO_BUILDS, build },
  }
  const compute = (): readonly string[] => {
    if (built.length < 2) throw new Unanswered({ kind: 'builds', builds: [one, other] })
    return built
  }
  assert.deepEqual(await computeWithAnswers(renderer, never, compute), ['a', 'b'])
  const again = computeWithAnswers(renderer, never, () => {
    throw new Unanswered({ kind: 'builds', builds: [one] })
  })
  await assert.rejects(again, (thrown) => thrown instanceof Failure && thrown.why === 'killed')
})
