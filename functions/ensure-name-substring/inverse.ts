import { type Inverse, obstacle } from '../../src/proposal/adopt/find-places.ts'

export const invertNames: Inverse = ({ run }) => obstacle(run, 'the function writes names, and another name is another object')
