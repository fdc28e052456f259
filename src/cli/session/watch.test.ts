import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

const DB = {
  'apps/db/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: db}\n',
  'apps/db/db.yaml': config('db'),
}

function config(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: data}\ndata: {size: "5"}\n`
}

function down(why = 'the connection was refused'): Failure {
  return new Failure({
    code: 'BP4001',
    what: 'the repository cannot be reached',
    why,
    remedy: 'try again',
  })
}

async function scanned(): Promise<TurnWorld> {
  const world = new TurnWorld('{mode: Propose}', DB)
  await world.scan()
  return world
}

test('status -w prints the table once, then only changed rows, until interrupted', async () => {
  const world = await scanned()
  const { code, stdout, stderr } = await runInWorld(
    world,
    ['status', '-w', '--columns', 'package,state'],
    {
      waits: [
        () => undefined,
        async () => {
          world.edit(WEB, 'spec.replicas', 5)
          await world.scan()
        },
        () => undefined,
        async () => {
          world.edit(WEB, 'spec.replicas', 3)
          await world.scan()
        },
      ],
    },
  )
  assert.equal(code, 130)
  assert.deepEqual(stdout.split('\n'), [
    'PACKAGE    STATE',
    'apps/db    ✓ InSync',
    'apps/web   ✓ InSync',
    'apps/web   ~ Drifted',
    'apps/web   ✓ InSync',
    '',
  ])
  assert.doesNotMatch(stderr, /interrupted/)
})

test('status -w shows stale clusters even when no ref moves', async () => {
  const world = await scanned()
  const { stdout } = await runInWorld(world, ['status', '-w', '--columns', 'package,state'], {
    waits: [() => undefined, () => world.pass(40), () => undefined],
  })
  assert.deepEqual(stdout.split('\n').slice(3), [
    'apps/db    ? Unknown (stale)',
    'apps/web   ? Unknown (stale)',
    '',
  ])
})

test('a poll without moved refs reads only the refs', async () => {
  const world = await scanned()
  const { repository } = world
  const counts = { refs: 0, reads: 0 }
  const [refs, read] = [repository.listRefs.bind(repository), repository.read.bind(repository)]
  repository.listRefs = () => {
    counts.refs += 1
    return refs()
  }
  repository.read = (blobs) => {
    counts.reads += 1
    return read(blobs)
  }
  const once = await runInWorld(world, ['status'])
  const one = { ...counts }
  const watched = await runInWorld(world, ['status', '-w'], {
    waits: [() => undefined, () => undefined, () => undefined],
  })
  assert.equal(counts.reads, 2 * one.reads)
  assert.equal(counts.refs, 2 * one.refs + 3)
  assert.equal(watched.stdout, once.stdout)
})

test('get drifts -w appends new rows, and reports removed ones on stderr', async () => {
  const world = await scanned()
  const { stdout, stderr } = await runInWorld(
    world,
    ['get', 'drifts', '-w', '--columns', 'object,field,live'],
    {
      waits: [
        async () => {
          world.edit(WEB, 'spec.replicas', 5)
          world.edit(WEB_CONFIG, 'data.color', 'red')
          await world.scan()
        },
        async () => {
          world.edit(WEB, 'spec.replicas', 3)
          world.edit(WEB_CONFIG, 'data.color', 'green')
          await world.scan()
        },
      ],
    },
  )
  assert.deepEqual(stdout.split('\n').slice(1), [
    'ConfigMap/web    data.color      "red"',
    'Deployment/web   spec.replicas   5',
    'ConfigMap/web    data.color      "green"',
    '',
  ])
  assert.match(stderr, /^gone: prod apps\/web apps\/Deployment\/shop\/web spec\.replicas$/m)
})

test('get packages -w shows a new draft, and with json one whole document for each change', async () => {
  const drift = (world: TurnWorld) => async (): Promise<void> => {
    world.edit(WEB, 'spec.replicas', 5)
    await world.scan()
  }
  const world = await scanned()
  const rows = await runInWorld(
    world,
    ['get', 'packages', '-w', '--no-headers', '--columns', 'package,lifecycle'],
    {
      waits: [() => undefined, drift(world)],
    },
  )
  assert.match(rows.stdout, /^(apps\/(db|web) +Published\n){2}/)
  assert.match(rows.stdout, /apps\/web +Proposed\n/)
  const other = await scanned()
  const { stdout } = await runInWorld(other, ['get', 'packages', '-w', '-o', 'json'], {
    waits: [() => undefined, drift(other)],
  })
  const documents = stdout
    .trim()
    .split(/\n(?=\{)/)
    .map((text) => JSON.parse(text) as { kind: string; items: unknown[] })
  assert.deepEqual(
    documents.map(({ items }) => items.length),
    [2, 3],
  )
})

test('diff -w observes again, prints current drift, and says when none is left', async () => {
  const world = await scanned()
  const { code, stdout } = await runInWorld(world, ['diff', '-w'], {
    waits: [
      () => undefined,
      () => world.edit(WEB, 'spec.replicas', 5),
      () => undefined,
      () => world.edit(WEB, 'spec.replicas', 3),
      () => undefined,
    ],
  })
  assert.equal(code, 130)
  assert.equal(stdout.match(/3 → 5/g)?.length, 1)
  assert.match(stdout, /^apps\/v1 Deployment shop\/web/)
  assert.match(
    stdout,
    /1 change in 1 object of apps\/web in prod \(2 checked\)\n✓ apps\/web in prod: nothing to show\n$/,
  )
})

test('an error while watching is reported once, is no drift news, and the watch continues', async () => {
  const world = await scanned()
  const { repository } = world
  const refs = repository.listRefs.bind(repository)
  const { code, stdout, stderr } = await runInWorld(
    world,
    ['status', '-w', '--no-headers', '--columns', 'package,state'],
    {
      waits: [
        () => {
          repository.listRefs = () => Promise.reject(down())
        },
        () => undefined,
        () => {
          repository.listRefs = () => Promise.reject(down('no route to host'))
        },
        async () => {
          repository.listRefs = refs
          world.edit(WEB, 'spec.replicas', 5)
          await world.scan()
        },
      ],
    },
  )
  assert.equal(code, 130)
  assert.equal(stderr.match(/error BP4001/g)?.length, 2)
  assert.match(stderr, /answers again/)
  assert.deepEqual(stdout.split('\n'), [
    'apps/db    ✓ InSync',
    'apps/web   ✓ InSync',
    'apps/web   ~ Drifted',
    '',
  ])
})

test('an error at the first poll ends the command with its exit code', async () => {
  const world = await scanned()
  world.repository.listRefs = () => Promise.reject(down())
  const { code, stderr } = await runInWorld(world, ['status', '-w'], { waits: [() => undefined] })
  assert.equal(code, 2)
  assert.match(stderr, /error BP4001/)
})

test('an internal error ends the watch', async () => {
  const world = await scanned()
  const { code, stderr } = await runInWorld(world, ['status', '-w'], {
    waits: [
      () => {
        world.repository.listRefs = () => Promise.reject(new TypeError('a fault'))
      },
      () => undefined,
    ],
  })
  assert.equal(code, 2)
  assert.match(stderr, /error BP9001/)
})

test('the poll interval is 5 s or --interval', async () => {
  for (const [flags, wanted] of [
    [[], 5000],
    [['--interval', '2m'], 120_000],
  ] as const) {
    const world = await scanned()
    const slept: number[] = []
    await runInWorld(world, ['status', '-w', ...flags], {
      waits: [() => undefined],
      onSleep: (milliseconds) => slept.push(milliseconds),
    })
    assert.deepEqual(slept, [wanted, wanted])
  }
})
