import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import type { CliContext } from '../context/cli-context.ts'
import {
  type ClusterOptions,
  createClusterTarget,
  Progress,
  parseDurationSeconds,
} from './options.ts'

const DURATIONS: readonly (readonly [text: string, seconds: number | undefined])[] = [
  ['30s', 30],
  ['5m', 300],
  ['2h', 7200],
  ['30d', 2_592_000],
  ['1h30m', 5_400],
  ['0s', undefined],
  ['5', undefined],
  ['-5m', undefined],
  ['1.5h', undefined],
  ['5 m', undefined],
  ['', undefined],
]

for (const [text, seconds] of DURATIONS) {
  test(`the duration ${JSON.stringify(text)} is ${seconds === undefined ? 'refused' : `${seconds} s`}`, () => {
    if (seconds === undefined) assert.throws(() => parseDurationSeconds(text), /30s, 5m or 1h30m/)
    else assert.equal(parseDurationSeconds(text), seconds)
  })
}

test('objects come from a recording or from an API server', () => {
  const options = { live: 'objects.yaml', context: 'prod' } as unknown as ClusterOptions
  assert.throws(
    () => createClusterTarget(options),
    (thrown) => thrown instanceof Failure && thrown.code === 'BP1001',
  )
  assert.equal(
    createClusterTarget({ live: 'objects.yaml' } as unknown as ClusterOptions).live,
    'objects.yaml',
  )
})

const USAGE: readonly (readonly [argv: readonly string[], why: RegExp])[] = [
  [
    ['dif'],
    /unknown command 'dif'\n {2}why: backporch has no such command; did you mean diff\?\n {2}fix: write backporch diff\n$/,
  ],
  [['get', 'ignores'], /unknown command 'ignores'\n.*\n {2}fix: write backporch ignore --list\n$/],
  [
    ['snooze', 'web', '7d'],
    /unknown command 'snooze'\n.*\n {2}fix: write \/snooze 7d in a comment/,
  ],
  [['get', 'drift'], /did you mean drifts\?\n {2}fix: write backporch get drifts\n$/],
  [['diff', '--repoo', 'x'], /did you mean --repo\?\n {2}fix: write --repo\n$/],
  [
    ['diff', '--nope'],
    /unknown option '--nope'\n {2}why: backporch diff has no such flag\n {2}fix: backporch diff --help lists its flags\n$/,
  ],
  [
    ['diff', '-o', 'xml'],
    /-o, --output.*'xml'.*\n {2}why: this command prints table, .*sarif.*\n {2}fix: give -o one of table, /,
  ],
  [
    ['render', '-o', 'json'],
    /why: render prints what would change, .*\n {2}fix: give one of them; a folder of this name is \.\/NAME\n$/,
  ],
  [['diff', '--partial', 'maybe'], /why: wanted "ok"\n/],
  [
    ['diff', '--timeout', '5'],
    /'5'.*\n {2}why: wanted a duration like 30s, 5m or 1h30m\n {2}fix: give --timeout such a value/,
  ],
  [
    ['diff', '--container-engine', 'lxc'],
    /'lxc'.*\n {2}why: it takes one of docker, podman\n {2}fix: give --container-engine one of docker, podman\n$/,
  ],
  [
    ['completion', 'tcsh'],
    /'tcsh' for <shell>.*\n {2}why: it takes one of bash, zsh, fish\n {2}fix: write one of bash, zsh, fish\n$/,
  ],
  [
    ['completion'],
    /'shell'\n {2}why: backporch completion requires <shell>: .*\(bash, zsh, fish\)\n {2}fix: write backporch completion .*<shell>\n$/,
  ],
  [
    ['explain'],
    /why: backporch explain requires <what>: path of a package, or a code\n {2}fix: write backporch explain .*<what> \[selectors\.\.\.\]\n$/,
  ],
  [['diff', '--repo'], /why: the flag requires a value\n {2}fix: write --repo <path\|url>\n$/],
  [['status', '--columns', 'nmae'], /no column nmae\n {2}why: the columns are cluster, /],
  [
    ['approve', 'a', 'b'],
    /too many arguments for 'approve'\n {2}why: expected 1 argument but got 2: a, b\n {2}fix: write backporch approve .*\[package\]\n$/,
  ],
  [
    ['diff', '-q', '-v'],
    /'-v, --verbose' cannot be used with .*\n {2}why: .*\n {2}fix: remove one of them\n$/,
  ],
  [
    ['help', 'adpot'],
    /unknown command 'adpot'\n {2}why: .*did you mean adopt\?\n {2}fix: write backporch adopt --help\n$/,
  ],
  [['get', 'help', 'dirfts'], /did you mean drifts\?/],
  [
    ['render', '--allow-exec=./my-fn'],
    /why: its path is relative, .*\n {2}fix: .*\(exec: my-fn\).*absolute path: --allow-exec=\/…\/my-fn\n$/,
  ],
  [
    ['render', '--allow-module=fn/team.mjs'],
    /wanted the absolute path .*--allow-module=\/…\/NAME\.mjs$/m,
  ],
  [['render', '--allow-module=/bin/team'], /wanted the absolute path /],
  [['render', '--allow-exec="my-fn'], /why: it names no program\n {2}fix: .*quote\n$/],
]

for (const [argv, why] of USAGE) {
  test(`an invalid command line exits with 2 and the reason: ${argv.join(' ')}`, async () => {
    const { code, stdout, stderr } = await runInWorld(new TurnWorld(), argv)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^error BP1001: /)
    assert.match(stderr, why)
    assert.match(stderr, /\n {2}fix: /)
    assert.doesNotMatch(stderr, /\n {4}at |it is not part of the command/)
  })
}

test('help prints the help of the named command at every depth', async () => {
  for (const [argv, usage] of [
    [['help'], 'backporch [options] [command]'],
    [['help', 'diff'], 'backporch diff [options] [packages...]'],
    [['help', 'get', 'drifts'], 'backporch get drifts [options] [packages...]'],
    [['get', 'help', 'drifts'], 'backporch get drifts [options] [packages...]'],
    [['help', 'get'], 'backporch get [options] [command]'],
    [['help', 'help'], 'backporch [options] [command]'],
  ] as const) {
    const { code, stdout, stderr } = await runInWorld(new TurnWorld(), argv)
    assert.deepEqual(
      [code, stdout.split('\n')[0], stderr],
      [0, `Usage: ${usage}`, ''],
      argv.join(' '),
    )
  }
  // Of a command that has none below it, help is an argument.
  assert.match(
    (await runInWorld(new TurnWorld(), ['diff', 'help'])).stderr,
    /^error BP1004: there is no package "help"/,
  )
})

test('a program is allowed by name, by absolute path and with its arguments', async () => {
  for (const text of ['my-fn', '/opt/my-fn', 'sh -c "cat a/b"', 'my-fn ./here'])
    assert.equal(
      (await runInWorld(new TurnWorld(), ['render', '--allow-exec', text])).code,
      0,
      text,
    )
})

test('the exit code ignores drift with --no-exit-code or --exit-code=false', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  for (const argv of [['diff'], ['diff', '--exit-code=true']])
    assert.equal((await runInWorld(world, argv)).code, 1)
  for (const argv of [
    ['diff', '--no-exit-code'],
    ['diff', '--exit-code=false'],
  ])
    assert.equal((await runInWorld(world, argv)).code, 0)
})

function progressOn(
  isTTY: boolean,
  quiet: boolean,
): { readonly lines: string[]; readonly progress: Progress; pass(milliseconds: number): void } {
  const lines: string[] = []
  let now = 0
  const world = {
    clock: { now: () => new Date(now) },
    stderr: { isTTY, write: (text: string) => lines.push(text) },
  } as unknown as CliContext
  const progress = new Progress(world, {
    quiet: quiet || undefined,
    verbose: undefined,
    output: 'table',
  })
  return { lines, progress, pass: (milliseconds) => (now += milliseconds) }
}

test('a short run shows no progress; a long one a line that is rewritten and cleared', () => {
  const { lines, progress, pass } = progressOn(true, false)
  progress.step('reading')
  assert.deepEqual(lines, [])
  pass(400)
  progress.step('observing')
  progress.end()
  assert.deepEqual(lines, ['\r\u001b[Kobserving…', '\r\u001b[K'])
})

test('a log gets a progress line every ten seconds, and a quiet run none', () => {
  const { lines, progress, pass } = progressOn(false, false)
  for (let second = 0; second < 25; second += 1) {
    progress.step(`step ${second}`)
    pass(1000)
  }
  progress.end()
  assert.deepEqual(lines, ['step 10…\n', 'step 20…\n'])
  const quiet = progressOn(true, true)
  quiet.pass(60_000)
  quiet.progress.step('x')
  quiet.progress.end()
  assert.deepEqual(quiet.lines, [])
})
