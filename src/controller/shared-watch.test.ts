import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  ClusterWatch,
  KindWatchState,
  WatchedKind,
  WatchObserver,
} from '@backporch/cluster/cluster-watch'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import { groupByCluster, SharedWatches } from './shared-watch.ts'

const kindOf = (kind: string): WatchedKind => ({
  apiVersion: 'v1',
  kind,
  namespace: '',
  metadataOnly: false,
})
const [POD, SERVICE, SECRET] = [kindOf('Pod'), kindOf('Service'), kindOf('Secret')]
const object = (name: string) => ({ metadata: { name } })

/** A watch whose events the test sends. */
class FakeWatch implements ClusterWatch {
  readonly cluster = 'prod'
  readonly observer: WatchObserver
  followed = new Map<string, KindWatchState>()
  /** Kinds that were started, in order. */
  readonly started: string[] = []
  closed = 0
  now = 1_000

  constructor(observer: WatchObserver) {
    this.observer = observer
  }

  follow(kinds: readonly WatchedKind[]): void {
    const names = new Set(kinds.map(({ kind }) => kind))
    for (const name of [...this.followed.keys()]) if (!names.has(name)) this.followed.delete(name)
    for (const watched of kinds) {
      if (this.followed.has(watched.kind)) continue
      this.started.push(watched.kind)
      this.followed.set(watched.kind, {
        watched,
        state: 'listing',
        provenAt: 0,
        failure: undefined,
        lists: 0,
        reopened: 0,
        events: 0,
      })
    }
  }

  list(kind: WatchedKind, ...names: string[]): void {
    this.observer.beginList(kind)
    for (const name of names) this.observer.handleChange(kind, object(name), 0)
    const state = this.followed.get(kind.kind)
    assert.ok(state)
    this.followed.set(kind.kind, {
      ...state,
      state: 'watching',
      lists: state.lists + 1,
      provenAt: this.now,
    })
    this.observer.finishList(kind)
  }

  state(): readonly KindWatchState[] {
    return [...this.followed.values()]
  }

  async close(): Promise<void> {
    this.closed += 1
  }
}

class Recorder implements WatchObserver {
  readonly seen: string[] = []
  beginList = ({ kind }: WatchedKind): unknown => this.seen.push(`listing ${kind}`)
  handleChange = ({ kind }: WatchedKind, changed: JsonObject): unknown =>
    this.seen.push(`${kind} ${getMetadataText(changed, 'name')}`)
  handleDeletion = ({ kind }: WatchedKind): unknown => this.seen.push(`deleted ${kind}`)
  finishList = ({ kind }: WatchedKind): unknown => this.seen.push(`listed ${kind}`)
  handleUnreadable = ({ kind }: WatchedKind): unknown => this.seen.push(`unreadable ${kind}`)

  /** What was seen since the last call. */
  take(): string[] {
    return this.seen.splice(0)
  }
}

async function shared(...observers: readonly WatchObserver[]) {
  const sessions = new SharedWatches()
  const opened: FakeWatch[] = []
  const open = async (observer: WatchObserver): Promise<ClusterWatch> => {
    const watch = new FakeWatch(observer)
    opened.push(watch)
    return watch
  }
  const views = await Promise.all(
    observers.map((observer) => sessions.view('prod', observer, open)),
  )
  const [watch] = opened
  assert.ok(watch)
  return {
    sessions,
    open,
    opened,
    watch,
    views: views.map((view) => view ?? assert.fail('it is watched')),
  }
}

test('two repositories share one session, each with its kinds, and the last one closes it', async () => {
  const [one, other] = [new Recorder(), new Recorder()]
  const { watch, opened, views } = await shared(one, other)
  const [first, second] = views
  assert.equal(opened.length, 1)
  first?.follow([POD])
  second?.follow([SERVICE])
  assert.deepEqual(watch.started, ['Pod', 'Service'])
  watch.list(POD, 'a')
  watch.list(SERVICE, 'b')
  watch.observer.handleDeletion(POD, object('a'), 0)
  assert.deepEqual(one.take(), ['listing Pod', 'Pod a', 'listed Pod', 'deleted Pod'])
  assert.deepEqual(other.take(), ['listing Service', 'Service b', 'listed Service'])
  assert.deepEqual(
    first?.state().map(({ watched }) => watched.kind),
    ['Pod'],
  )
  await first?.close()
  assert.deepEqual([[...watch.followed.keys()], watch.closed], [['Service'], 0])
  await second?.close()
  assert.equal(watch.closed, 1)
})

test('a kind that another repository already listed is listed completely for a later follower', async () => {
  const [one, other] = [new Recorder(), new Recorder()]
  const { watch, views } = await shared(one, other)
  const [first, second] = views
  first?.follow([POD, SERVICE])
  watch.list(POD, 'a', 'b')
  watch.list(SERVICE)
  one.take()
  second?.follow([POD, SECRET])
  assert.deepEqual(watch.started, ['Pod', 'Service', 'Pod', 'Secret'])
  // An event of the list before is for the one that has it.
  watch.observer.handleChange(POD, object('b'), 0)
  assert.deepEqual([one.take(), other.take()], [['Pod b'], []])
  watch.list(POD, 'a', 'b')
  assert.deepEqual(other.take(), ['listing Pod', 'Pod a', 'Pod b', 'listed Pod'])
})

test('a relist for another repository is no gap for the first, and not listed for the other', async () => {
  const { watch, views } = await shared(new Recorder(), new Recorder())
  const [first, second] = views
  first?.follow([POD])
  watch.list(POD)
  watch.now = 9_000
  second?.follow([POD])
  const short = (view: ClusterWatch | undefined): unknown =>
    view?.state().map(({ lists, provenAt }) => [lists, provenAt])
  assert.deepEqual(short(first), [[1, 1_000]])
  assert.deepEqual(short(second), [[0, 0]])
  watch.list(POD)
  assert.deepEqual(short(first), [[2, 9_000]])
  assert.deepEqual(short(second), [[2, 9_000]])
})

test('a kind stops being watched when its last follower leaves', async () => {
  const { watch, views } = await shared(new Recorder(), new Recorder())
  const [first, second] = views
  first?.follow([POD, SERVICE])
  second?.follow([POD])
  first?.follow([])
  assert.deepEqual([...watch.followed.keys()], ['Pod'])
  second?.follow([])
  assert.equal(watch.followed.size, 0)
  first?.follow([POD])
  watch.list(POD)
  assert.deepEqual(
    first?.state().map(({ lists }) => lists),
    [1],
  )
})

test('a read failure is reported to each follower, and an exception of one costs no other an event', async () => {
  const bad = new Recorder()
  bad.handleChange = () => {
    throw new Error('no')
  }
  const good = new Recorder()
  const { watch, views } = await shared(bad, good)
  for (const view of views) view.follow([POD])
  watch.observer.beginList(POD)
  assert.throws(() => watch.observer.handleChange(POD, object('a'), 0), /no/)
  watch.observer.handleUnreadable(
    POD,
    new Failure({ code: 'BP3003', what: 'no', why: 'no', remedy: 'no' }),
  )
  assert.deepEqual(good.take(), ['listing Pod', 'Pod a', 'unreadable Pod'])
  assert.deepEqual(bad.take(), ['listing Pod', 'unreadable Pod'])
})

test('after the last close or a failed opening, the next follower opens a new session', async () => {
  const { sessions, open, opened, views } = await shared(new Recorder())
  await views[0]?.close()
  views[0]?.follow([POD])
  const again = await sessions.view('prod', new Recorder(), open)
  again?.follow([POD])
  assert.deepEqual(
    opened.map(({ started, closed }) => [started, closed]),
    [
      [[], 1],
      [['Pod'], 0],
    ],
  )
  await assert.rejects(
    sessions.view('edge', new Recorder(), () => Promise.reject(new Error('no route'))),
    /no route/,
  )
  assert.ok(await sessions.view('edge', new Recorder(), open))
  assert.equal(await sessions.view('recorded', new Recorder(), async () => undefined), undefined)
  assert.ok(await sessions.view('recorded', new Recorder(), open))
})

test('metrics merge the watches of one cluster, with each kind once', async () => {
  const { watch, views } = await shared(new Recorder(), new Recorder())
  const [first, second] = views
  first?.follow([POD, SERVICE])
  second?.follow([POD])
  watch.list(POD)
  watch.list(SERVICE)
  const [one, ...more] = groupByCluster(views)
  assert.deepEqual(more, [])
  assert.deepEqual(
    one
      ?.state()
      .map(({ watched, lists }) => [watched.kind, lists])
      .sort(),
    [
      ['Pod', 1],
      ['Service', 1],
    ],
  )
})

test('each of two repositories gets the events of its own Secret', async () => {
  const [one, other] = [new Recorder(), new Recorder()]
  const { watch, views } = await shared(one, other)
  const [web, shop] = ['web', 'shop'].map((name): WatchedKind => ({ ...SECRET, name }))
  assert.ok(web !== undefined && shop !== undefined)
  views[0]?.follow([web])
  views[1]?.follow([shop])
  for (const [secret, name] of [
    [web, 'web'],
    [shop, 'shop'],
  ] as const) {
    watch.observer.beginList(secret)
    watch.observer.handleChange(secret, object(name), 0)
    watch.observer.finishList(secret)
  }
  assert.deepEqual(one.take(), ['listing Secret', 'Secret web', 'listed Secret'])
  assert.deepEqual(other.take(), ['listing Secret', 'Secret shop', 'listed Secret'])
})
