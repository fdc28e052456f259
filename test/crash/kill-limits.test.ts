import { describeKills } from './kill-at-writes.ts'
import { HELD } from './scenarios-held.ts'

describeKills('limits', HELD)
