/** The rooms and what each imports, as a drawing in docs/design.md. */

const [BEGIN, END] = ['<!-- rooms: npm run rooms -- --write -->\n', '<!-- end of rooms -->']
/** The program itself: it wires everything to everything. */
const PROGRAM = new Set(['src', 'functions'])

/**
 * @param imports from file to file, by paths from the root
 * @param libraries names of their folders below `src/`
 * @returns a flowchart of Mermaid: an arrow goes from a room to each room that it imports, unless a longer way leads there too
 */
export function drawRooms(
  imports: Iterable<readonly [from: string, to: string]>,
  libraries: readonly string[],
): string {
  const arrows = new Map<string, Set<string>>()
  for (const [from, to] of imports) {
    const [one, other] = [roomOf(from), roomOf(to)]
    if (one === other || PROGRAM.has(one) || PROGRAM.has(other)) continue
    arrows.set(one, (arrows.get(one) ?? new Set()).add(other))
  }
  const rooms = [...new Set([...arrows].flatMap(([room, others]) => [room, ...others]))].sort()
  // Where rooms are in a circle, it ends all the same: the rules name the import.
  const reaches = (from: string, to: string): boolean => {
    const reached = new Set(arrows.get(from))
    for (const room of reached) for (const next of arrows.get(room) ?? []) reached.add(next)
    return reached.has(to)
  }
  const lines = [...arrows].flatMap(([room, others]) =>
    [...others]
      .filter(
        (other) => ![...others].some((between) => between !== other && reaches(between, other)),
      )
      .map((other) => `  ${room} --> ${other}`),
  )
  return [
    '```mermaid',
    'flowchart TD',
    '  subgraph libraries',
    ...rooms.filter((room) => libraries.includes(room)).map((room) => `    ${room}`),
    '  end',
    ...lines.sort(),
    '```',
    '',
  ].join('\n')
}

/** The text with the drawing in its place. @throws TypeError where it has no place */
export function withDrawing(text: string, drawing: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin)
    throw new TypeError('docs/design.md has no place for the drawing of the rooms')
  return `${text.slice(0, begin + BEGIN.length)}${drawing}${text.slice(end)}`
}

/** `plan` of `src/plan/turn/plan-turn.ts`; each adapter is a room. */
function roomOf(file: string): string {
  const [top = '', room = '', adapter = ''] = file.split('/')
  if (top !== 'src' || room.endsWith('.ts')) return top
  return room === 'adapters' ? `adapters/${adapter}` : room
}
