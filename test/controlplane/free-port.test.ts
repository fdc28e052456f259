import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

/** A process that asks for ports, prints them, and holds them as long as its standard input is open. */
function asking(count: number) {
  const module = JSON.stringify(new URL('free-port.ts', import.meta.url).href)
  const program = `
    import { freePort } from ${module}
    const ports = []
    for (let asked = 0; asked < ${count}; asked += 1) ports.push(await freePort())
    console.log(JSON.stringify(ports))
    process.stdin.resume()`
  return spawn(process.execPath, ['--input-type=module', '--no-warnings', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

test('concurrent processes get different ports, and ports of ended processes are reused', async () => {
  const askers = [asking(300), asking(300), asking(300)]
  const given = await Promise.all(
    askers.map(
      async (asker) => JSON.parse(String((await once(asker.stdout, 'data'))[0])) as number[],
    ),
  )
  assert.deepEqual(
    given.map(({ length }) => length),
    [300, 300, 300],
  )
  assert.equal(new Set(given.flat()).size, 900)
  for (const asker of askers) asker.stdin.end()
  const ends = await Promise.all(askers.map((asker) => once(asker, 'exit')))
  assert.deepEqual(
    ends.map(([code]) => code),
    [0, 0, 0],
  )
})
