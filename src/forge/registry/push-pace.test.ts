import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualClock } from '../../../test/fakes/virtual-clock.ts'
import { PushPaces } from './push-pace.ts'

const { signal } = new AbortController()

describe('PushPaces', () => {
  it('allows six pushes in any minute, and queues the others', async () => {
    const clock = new VirtualClock()
    const admit = new PushPaces(clock).findAdmitPush('https://github.com/acme/deploy.git', {})
    assert.ok(admit)
    const at: number[] = []
    const pushes = Array.from({ length: 20 }, async () => {
      const end = await admit(signal)
      at.push(clock.elapsed)
      end()
    })
    await clock.pass(5 * 60_000)
    await Promise.all(pushes)
    assert.deepEqual(
      at.map((time) => time / 60_000),
      [...Array(6).fill(0), ...Array(6).fill(1), ...Array(6).fill(2), 3, 3],
    )
    for (const from of at)
      assert.ok(at.filter((time) => time >= from && time < from + 60_000).length <= 6)
  })

  it('waits at most a minute when the clock is set back by an hour', async () => {
    const clock = new VirtualClock()
    const admit = new PushPaces(clock).findAdmitPush('https://github.com/acme/deploy.git', {})
    assert.ok(admit)
    for (let push = 0; push < 6; push += 1) (await admit(signal))()
    clock.setBack = 3_600_000
    let at: number | undefined
    const seventh = admit(signal).then((end) => {
      at = clock.elapsed
      end()
    })
    await clock.pass(60_000)
    await seventh
    assert.equal(at, 60_000)
  })

  it('counts a push from its end, and also an unfinished one', async () => {
    const clock = new VirtualClock()
    const admit = new PushPaces(clock).findAdmitPush('https://github.com/acme/deploy.git', {})
    assert.ok(admit)
    const ends = await Promise.all(Array.from({ length: 6 }, () => admit(signal)))
    let at: number | undefined
    const seventh = admit(signal).then(() => {
      at = clock.elapsed
    })
    await clock.pass(10_000)
    for (const end of ends) end()
    await clock.pass(59_000)
    assert.equal(at, undefined)
    await clock.pass(2_000)
    await seventh
    assert.equal(at, 70_000)
  })

  it('limits each repository on its own, whatever address reaches it', async () => {
    const paces = new PushPaces(new VirtualClock())
    const one = paces.findAdmitPush('https://github.com/acme/deploy.git', {})
    assert.equal(paces.findAdmitPush('git@github.com:Acme/deploy', {}), one)
    assert.equal(paces.findAdmitPush('ssh://git@ssh.github.com:443/acme/deploy.git', {}), one)
    assert.notEqual(paces.findAdmitPush('https://github.com/acme/other', {}), one)
  })

  it('delays no push to a remote without a known limit', () => {
    const paces = new PushPaces(new VirtualClock())
    for (const remote of [
      '/srv/deploy.git',
      'https://git.example.com/acme/deploy.git',
      'file:///deploy.git',
    ])
      assert.equal(paces.findAdmitPush(remote, {}), undefined, remote)
    assert.ok(
      paces.findAdmitPush('https://git.example.com/acme/deploy.git', {
        GITHUB_SERVER_URL: 'https://git.example.com',
      }),
    )
  })

  it('ends a wait with the reason of the signal', async () => {
    const admit = new PushPaces(new VirtualClock()).findAdmitPush(
      'https://github.com/acme/deploy',
      {},
    )
    assert.ok(admit)
    for (let count = 0; count < 6; count += 1) (await admit(signal))()
    const stop = new AbortController()
    const waiting = admit(stop.signal)
    stop.abort(new Error('shutdown'))
    await assert.rejects(waiting, /shutdown/)
  })
})
