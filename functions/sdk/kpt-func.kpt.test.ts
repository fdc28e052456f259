import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type KptRun, runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

const RUN = JSON.stringify(new URL('./run-kpt-func.ts', import.meta.url).href)
const context = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  annotations:\n    config.kubernetes.io/local-config: "true"\ndata:\n  name: ${name}\n`

/** A package with two below it, each with an object that both others have too. */
function files(exec: string): { readonly [path: string]: string } {
  const pipeline = exec === '' ? '' : `pipeline:\n  mutators:\n    - exec: ${exec}\n`
  return {
    'p/Kptfile': `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n${pipeline}`,
    'p/package-context.yaml': context('p'),
    'p/odd.yaml':
      'apiVersion: example.com/v1\nkind: Odd\nmetadata:\n  name: odd\nspec:\n  date: 2024-01-01 # when\n  mode: 0644\n  list: [a, "b"]\n',
    'p/a/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\n',
    'p/a/package-context.yaml': context('a'),
    'p/b/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: b\n',
    'p/b/package-context.yaml': context('b'),
  }
}

/** Runs kpt over the package with a program that calls the function, whose text is `body`, with `configs`. */
function render(
  command: 'render' | 'eval',
  body: string,
  observe: (run: KptRun, read: (path: string) => string) => void,
): void {
  withFolder(
    {
      'fn.mjs': `import { runKptFunc } from ${RUN}\nawait runKptFunc(async (configs) => { ${body} })\n`,
    },
    (program) => {
      const exec = `${process.execPath} ${join(program, 'fn.mjs')}`
      withFolder(files(command === 'render' ? exec : ''), (folder) => {
        const words = command === 'render' ? ['--allow-exec'] : ['--exec', exec]
        const run = runKpt(folder, 'fn', command, 'p', '--results-dir', 'out', ...words)
        observe(run, (path) => readFileSync(join(folder, path), 'utf8'))
      })
    },
  )
}

for (const command of ['render', 'eval'] as const) {
  test(`kpt fn ${command} with a function that does nothing keeps every file of every package`, {
    skip: whyNoKpt(),
  }, () => {
    render(command, '', ({ ok, stderr }, read) => {
      assert.ok(ok, stderr)
      for (const [path, text] of Object.entries(files('')))
        if (path !== 'p/Kptfile') assert.equal(read(path), text, path)
    })
  })
}

test('kpt reads the results, and the printed text does not interfere', { skip: whyNoKpt() }, () => {
  const body = `console.log('for people')
    for (const object of configs.getAll()) if (object.kind === 'Odd') object.spec.mode = 1
    configs.addResults({ severity: 'warn', message: 'look', field: { path: 'spec.mode', suggestedValue: 1 } })`
  render('eval', body, ({ ok, stderr }, read) => {
    assert.ok(ok, stderr)
    assert.equal(read('p/odd.yaml'), files('')['p/odd.yaml']?.replace('mode: 0644', 'mode: 1'))
    assert.match(
      read('out/results.yaml'),
      /message: look\n +severity: warning\n +field:\n +path: spec\.mode\n +proposedValue: 1\n/,
    )
  })
})

test('kpt fails when the function throws', { skip: whyNoKpt() }, () => {
  render('eval', `throw new Error('not today')`, ({ ok }, read) => {
    assert.ok(!ok)
    assert.match(read('out/results.yaml'), /message: not today\n +severity: error\n/)
    assert.match(read('out/results.yaml'), /exitCode: 2\n/)
  })
})
