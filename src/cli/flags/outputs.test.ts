import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '@backporch/kyaml/json'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { CONFIG, KPTFILE, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

async function drifted(): Promise<TurnWorld> {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 9007199254740993n)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await world.scan()
  return world
}

const LISTS = [
  ['diff'],
  ['scan', '--dry-run'],
  ['status'],
  ['get', 'packages'],
  ['get', 'drifts'],
  ['history'],
]
const REPORTS = LISTS.filter((argv) => !['history', 'packages'].includes(argv.at(-1) ?? ''))

test('every list prints every list format, and stdout holds nothing else', async () => {
  const world = await drifted()
  for (const argv of LISTS) {
    const json = JSON.parse((await runInWorld(world, [...argv, '-o', 'json'])).stdout)
    const lines = (await runInWorld(world, [...argv, '-o', 'jsonl'])).stdout
      .split('\n')
      .filter((line) => line !== '')
    assert.equal(lines.length, json.items.length, argv.join(' '))
    for (const line of lines) JSON.parse(line)
    const { stdout, code } = await runInWorld(world, [...argv, '-o', 'yaml'])
    assert.match(stdout, new RegExp(`^kind: ${json.kind}$`, 'm'), argv.join(' '))
    assert.ok(code === 0 || code === 1)
  }
})

test('integers stay exact in every document', async () => {
  const world = await drifted()
  const line = (await runInWorld(world, ['diff', '-o', 'jsonl'])).stdout
  assert.match(
    JSON.stringify(parseJson(line), (_key, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    ),
    /9007199254740993/,
  )
  const { stdout } = await runInWorld(world, ['diff', '-o', 'json'])
  assert.match(stdout, /"live": 9007199254740993\b/)
})

test('an unreadable package is a line of its own', async () => {
  const world = await drifted()
  world.repository.commitByHand('main', {
    'apps/bad/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: bad}\n',
    'apps/bad/x.yaml': 'a: [',
  })
  const { stdout, code } = await runInWorld(world, ['diff', '-o', 'jsonl'])
  const kinds = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).kind)
  assert.deepEqual([kinds.sort(), code], [['DriftReport', 'Incomplete'], 2])
  const { stdout: markdown } = await runInWorld(world, ['diff', '-o', 'markdown'])
  assert.match(
    markdown,
    /\*\*Not everything was observed\.\*\*[\s\S]*### Not observed in full\n\n- `apps\/bad` not observed \(`BP1110`\)/,
  )
  const { stdout: github } = await runInWorld(world, ['diff', '-o', 'github'])
  assert.match(github, /^::warning title=not observed%3A apps\/bad::BP1110/)
  const sarif = JSON.parse((await runInWorld(world, ['diff', '-o', 'sarif'])).stdout)
  assert.equal(sarif.runs[0].invocations[0].executionSuccessful, false)
  assert.match(
    sarif.runs[0].invocations[0].toolExecutionNotifications[0].message.text,
    /^BP1110 apps\/bad/,
  )
})

test("report formats are for reports; elsewhere the error names the command's formats", async () => {
  const world = await drifted()
  for (const output of ['markdown', 'github', 'sarif']) {
    for (const argv of REPORTS)
      assert.ok(
        (await runInWorld(world, [...argv, '-o', output])).stdout !== '',
        `${argv} ${output}`,
      )
    for (const argv of [['history'], ['get', 'packages'], ['adopt']]) {
      const { code, stderr, stdout } = await runInWorld(world, [...argv, '-o', output])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(
        stderr,
        /^error BP1001: .*-o (markdown|github|sarif)\n.*\n {2}fix: give one of table, wide, name, json, yaml, jsonl$/m,
      )
    }
  }
  for (const argv of [
    ['explain', 'apps/web'],
    ['approve', '--yes'],
    ['reject', '--yes'],
  ]) {
    const { code, stderr } = await runInWorld(world, [...argv, '-o', 'json'])
    assert.equal(code, 2)
    assert.match(
      stderr,
      /^error BP1001: this command does not print -o json\n.*\n {2}fix: remove it/,
    )
  }
})

test('unsupported kubectl formats are rejected before any observation, suggesting jq', async () => {
  const world = await drifted()
  world.cluster.readLive = () => assert.fail('the cluster was asked')
  for (const output of ['jsonpath={.items[0].kind}', 'jsonpath=', 'go-template={{.}}']) {
    const { code, stderr, stdout } = await runInWorld(world, ['diff', '-o', output])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(
      stderr,
      /^error BP1001: .* is not accepted\n {2}why: this command prints table, wide,/,
    )
    assert.match(stderr, /\n {2}fix: .*for single values, give -o json and select them with jq/)
  }
  const { code, stderr } = await runInWorld(world, ['approve', '--yes', '-o', 'jsonpath={.kind}'])
  assert.equal(code, 2)
  assert.match(stderr, /^error BP1001: .*\n.*\n {2}fix: remove it/)
})

test('no cluster value in a JSON document becomes a runner command', async () => {
  const world = new TurnWorld()
  world.edit(WEB_CONFIG, 'data.color', '##[set-output name=x]y')
  for (const output of ['json', 'jsonl', 'sarif', 'github']) {
    const { stdout } = await runInWorld(world, ['diff', '-o', output])
    const lines = stdout.split('\n').filter((line) => !line.startsWith('::'))
    assert.doesNotMatch(lines.join('\n'), /##\[/, output)
    if (output === 'json') assert.match(JSON.stringify(JSON.parse(stdout)), /##\[set-output/)
  }
})

test('scan keeps stdout for its document even when it writes', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  for (const output of ['name', 'jsonl', 'markdown']) {
    const { stdout } = await runInWorld(world, ['scan', '-o', output])
    assert.doesNotMatch(stdout, /proposed|next: /, output)
  }
})

test('a list from the ledger has the time of its oldest observation', async () => {
  const world = new TurnWorld()
  const other = {
    'apps/shop/Kptfile': KPTFILE.replace('web', 'shop'),
    'apps/shop/a.yaml': CONFIG.replace('name: web', 'name: shop'),
  }
  world.repository.commitByHand('main', other)
  world.sync()
  await runInWorld(world, ['scan'])
  const first = world.cluster.now
  world.pass(300)
  await runInWorld(world, ['scan', 'apps/web'])
  const second = world.cluster.now
  world.pass(300)
  const timeOf = async (argv: readonly string[]): Promise<unknown> =>
    JSON.parse((await runInWorld(world, [...argv, '-o', 'json'])).stdout).observedAt
  for (const command of [['status'], ['get', 'drifts']]) {
    assert.equal(await timeOf(command), first, command.join(' '))
    assert.equal(await timeOf([...command, 'apps/web']), second, command.join(' '))
  }
  assert.equal(await timeOf(['status', '--state', 'Suspended']), '')
})
