import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FunctionOutput } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import {
  type Configs,
  FunctionConfigError,
  type KptFunc,
  type KubernetesObject,
  kubernetesObjectResult,
} from 'kpt-functions'
import { fromKptFunc } from './kpt-func.ts'

function maps(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function textsOf({ items }: { readonly items: readonly YamlMap[] }): string {
  return items.map((item) => writeYamlNode(item)).join('---\n')
}

function kptFunc(call: (configs: Configs) => void | Promise<void>): KptFunc {
  return Object.assign(async (configs: Configs) => call(configs), { usage: '' })
}

function run(
  call: (configs: Configs) => void | Promise<void>,
  text: string,
  config?: string,
): Promise<FunctionOutput> {
  return fromKptFunc(kptFunc(call))({
    items: maps(text),
    config: config === undefined ? undefined : maps(config)[0],
  })
}

type Spec = KubernetesObject & { spec: Record<string, unknown> }

const ODD = `# head
apiVersion: example.com/v1
kind: Odd
metadata:
  name: odd # the name
spec:
  date: 2024-01-01
  mode: 0644
  exponent: 1e3
  fraction: 1.0
  long: 9007199254740993
  word: "x"
  yes: no
  flow: {a: [1, 2], b: 'c'}
  # below
  replicas: 1
`

function context(folder: string): string {
  const annotations = `  annotations:\n    config.kubernetes.io/local-config: "true"\n    internal.config.kubernetes.io/path: '${folder}package-context.yaml'\n`
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n${annotations}data:\n  name: ${folder}x\n`
}

test('a function that does nothing returns the same nodes', async () => {
  const items = maps(ODD)
  const output = await fromKptFunc(kptFunc(() => undefined))({ items, config: undefined })
  assert.deepEqual([output.exitCode, output.results, output.stderr], [0, [], ''])
  assert.equal(output.items[0], items[0])
  assert.equal(textsOf(output), ODD)
})

test('one changed field changes one line: dates, octals, long integers, quotes and comments stay', async () => {
  const output = await run((configs) => {
    for (const object of configs.getAll()) (object as Spec).spec['replicas'] = 2
  }, ODD)
  assert.equal(textsOf(output), ODD.replace('replicas: 1', 'replicas: 2'))
})

test('a function that replaces an object with a copy changes no more than it changed', async () => {
  const output = await run((configs) => {
    const copies = configs.deepCopy().getAll()
    configs.deleteAll()
    for (const copy of copies) (copy as Spec).spec['word'] = 'y'
    configs.insert(...copies)
  }, ODD)
  assert.equal(textsOf(output), ODD.replace('word: "x"', 'word: "y"'))
})

test('keeps objects with equal keys by calling the function once per package', async () => {
  const kptfiles = ['', 'a/', 'b/'].map(
    (folder) =>
      `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: k${folder.slice(0, 1)}\n  annotations: {config.kubernetes.io/path: ${folder}Kptfile}\n`,
  )
  const text = [...kptfiles, context(''), context('a/'), context('b/')].join('---\n')
  const calls: string[][] = []
  const output = await run((configs) => {
    calls.push(configs.getAll().map((object) => `${object.kind} ${object.metadata.name}`))
    configs.insert({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } })
    configs.addResults({ severity: 'info', message: 'seen' })
  }, text)
  assert.deepEqual(calls, [
    ['Kptfile k', 'ConfigMap kptfile.kpt.dev'],
    ['Kptfile ka', 'ConfigMap kptfile.kpt.dev'],
    ['Kptfile kb', 'ConfigMap kptfile.kpt.dev'],
  ])
  assert.equal(
    textsOf(output),
    `${text}---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: new\n`,
  )
  assert.deepEqual(output.results, [{ message: 'seen', severity: 'info' }])
})

test('keeps equal objects of one package', async () => {
  const twin = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: twin\ndata:\n  n: "1" # c\n'
  const text = [twin, ODD, twin.replace('"1"', '"2"')].join('---\n')
  const output = await run((configs) => {
    for (const object of configs.getAll()) Object.assign(object.metadata, { labels: { l: 'x' } })
  }, text)
  assert.equal(output.items.length, 3)
  assert.equal(textsOf(output), text.replaceAll(/( {2}name: .*\n)/g, '$1  labels:\n    l: x\n'))
})

test('calls the function once with all objects when none are equal', async () => {
  let calls = 0
  await run(
    () => {
      calls += 1
    },
    `${ODD}---\n${context('a/')}`,
  )
  assert.equal(calls, 1)
})

test('deleted objects are absent, inserted ones come last, renamed ones keep their comments', async () => {
  const output = await run(
    (configs) => {
      for (const object of configs.getAll()) {
        if (object.kind === 'ConfigMap') configs.delete(object)
        else object.metadata.name = 'renamed'
      }
      configs.insert({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })
    },
    `${context('')}---\n${ODD}`,
  )
  assert.equal(
    textsOf(output),
    `${ODD.replace('name: odd', 'name: renamed')}---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n`,
  )
})

test('converts results to the terms of kpt', async () => {
  const output = await run((configs) => {
    const [object] = configs.getAll()
    assert.ok(object !== undefined)
    configs.addResults(
      kubernetesObjectResult(
        'odd',
        object,
        { path: 'spec.replicas', currentValue: 1, suggestedValue: 2 },
        'warn',
      ),
      {
        severity: 'info',
        message: 'm',
        tags: { t: 'x' },
        file: { path: 'a.yaml', index: 1 },
      },
    )
  }, ODD)
  assert.deepEqual(output.results, [
    {
      message: 'odd',
      severity: 'warning',
      resourceRef: { apiVersion: 'example.com/v1', kind: 'Odd', name: 'odd' },
      field: { path: 'spec.replicas', currentValue: 1, proposedValue: 2 },
    },
    { message: 'm', severity: 'info', file: { path: 'a.yaml', index: 1 }, tags: { t: 'x' } },
  ])
  assert.equal(output.exitCode, 0)
})

test('a result of severity error fails, and the items stay unchanged', async () => {
  const output = await run((configs) => {
    for (const object of configs.getAll()) (object as Spec).spec = {}
    configs.addResults({ severity: 'error', message: 'no' })
  }, ODD)
  assert.equal(output.exitCode, 1)
  assert.equal(textsOf(output), ODD)
})

const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: b\n'

test('an exception fails the run, with the exit code of the package and the results so far', async () => {
  const missing = await run(
    (configs) => {
      configs.addResults({ severity: 'info', message: 'first' })
      configs.getFunctionConfigValueOrThrow('x')
    },
    ODD,
    CONFIG,
  )
  const message = "Missing 'data.x' in ConfigMap provided as functionConfig"
  assert.deepEqual([missing.exitCode, missing.results], [3, [{ message, severity: 'error' }]])
  const own = await run(() => {
    throw new FunctionConfigError('mine')
  }, ODD)
  assert.deepEqual([own.exitCode, own.results], [3, [{ message: 'mine', severity: 'error' }]])
  const other = await run(() => Promise.reject(new RangeError('far')), ODD)
  assert.deepEqual([other.exitCode, other.results], [2, [{ message: 'far', severity: 'error' }]])
})

test('each call gets a new copy of the config', async () => {
  const [config] = maps(CONFIG)
  let calls = 0
  const fn = kptFunc((configs) => {
    calls += 1
    assert.equal(configs.getFunctionConfigValueOrThrow('a'), 'b')
    Object.assign(configs.getFunctionConfig() ?? {}, { data: {} })
  })
  assert.deepEqual((await fromKptFunc(fn)({ items: [ODD, ODD].flatMap(maps), config })).results, [])
  assert.equal(calls, 2)
  assert.equal(config === undefined ? '' : writeYamlNode(config), CONFIG)
})

test('values without a JSON form fail instead of hanging', async () => {
  const around: Record<string, unknown> = {}
  around['self'] = around
  for (const value of [around, Number.NaN, () => 1, 1n, Symbol('x')]) {
    const output = await run((configs) => {
      for (const object of configs.getAll()) (object as Spec).spec['x'] = value
    }, ODD)
    assert.equal(
      output.exitCode,
      typeof value === 'bigint' ? 0 : 2,
      String(output.results[0]?.message),
    )
    if (output.exitCode !== 0) assert.equal(textsOf(output), ODD)
  }
  const undefinedField = await run((configs) => {
    for (const object of configs.getAll()) (object as Spec).spec['word'] = undefined
  }, ODD)
  assert.equal(textsOf(undefinedField), ODD.replace('  word: "x"\n', ''))
})

/** The global console at the moment. */
const printer = (): Console => globalThis.console

test('restores the console, and printed text goes to standard error', async () => {
  const { default: host } = await import('node:console')
  const output = await run(async () => {
    printer().log('one %d', 1)
    await Promise.resolve()
    printer().error('two')
  }, ODD)
  assert.equal(output.stderr, 'one 1\ntwo')
  assert.equal(globalThis.console, host)
  const failing = await run(() => {
    printer().info('x'.repeat(1_000_000))
    throw new Error('after')
  }, ODD)
  assert.equal(failing.stderr.length, 64 * 1024)
  assert.equal(globalThis.console, host)
})

test('does not mix the printed texts of two concurrent functions', async () => {
  const say = (word: string) => async (): Promise<void> => {
    printer().log(`${word} 1`)
    await new Promise((done) => setImmediate(done))
    printer().log(`${word} 2`)
  }
  const outputs = await Promise.all([run(say('a'), ODD), run(say('b'), ODD)])
  assert.deepEqual(
    outputs.map(({ stderr }) => stderr),
    ['a 1\na 2', 'b 1\nb 2'],
  )
})
