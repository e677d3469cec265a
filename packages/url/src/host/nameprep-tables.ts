/**
 * Tables of RFC 3454 (stringprep, Unicode 3.2) that JavaScript's own Unicode properties cannot give: they know only
 * today's Unicode and no bidirectional classes. Taken from Python's `stringprep` module, which IDNA2003 is written in.
 *
 * Each entry is the distance of a range's start from the end of the range before, and `+` its length less one, both
 * in base 36.
 */

/** Tables C.1.2 and C.2.2 to C.9: no host label may hold these. */
export const PROHIBITED = codePointSet(
  '3k+w io+1 po 1e 31t b2 1ki+f p+7 1c+4 7+5 329+b 5 x6o+6in y9+v 7k 6y+6 15dg+7 96s+1 1ekf+1 1ekf+1 ' +
    '1ekf+1 1ekf+1 1ekf+1 1ekf+1 1ekf+1 1ekf+1 1ekf+1 1ekf+1 1ekf+1 1ekf+1 2 v+2n 1egv+2t4x',
)

/** Table D.1: written from right to left. */
export const RIGHT_TO_LEFT = codePointSet(
  '14u 2 3 d+q 6+4 13 4 2+p 6+a z+2 2+2s 8 8+1 k+4 2+d 3 2+q 2c+11 c 4ta 179q 2+9 2+c 2+4 2 2+1 2+1 ' +
    '2+2z y+a2 j+1r 3+1h 15+c 38+4 2+3q',
)

/** Table D.2: written from left to right. */
export const LEFT_TO_RIGHT = codePointSet(
  '1t+p 7+p 1c b 5 6+m 2+u 2+88 2+h t+2l 3+8 3+6 f+1 f+4 a 3w c 2+2 2 2+j 2+17 2+11 b+3m 8+1w 2+11 3+1 ' +
    '7+f y+11 3+6 2+12 2 oq 2+1g 4+3 9+3 4 8+9 3+c i+1 2+7 3+1 3+l 2+6 2 4+3 5+2 7+1 3+1 b 5+1 2+2 5+b ' +
    '3+6 b+5 5+1 3+l 2+6 2+1 2+1 2+1 5+2 p+3 2 8+9 3+2 f 2+6 2 2+2 2+l 2+6 2+1 2+4 4+3 9 2+1 4 g 6+9 j+1 ' +
    '2+7 3+1 3+l 2+6 2+1 3+3 4+1 2 7+1 3+1 b 5+1 2+2 5+a j 2+5 4+2 2+3 4+1 2 2+1 4+1 4+2 4+7 2+2 5+1 2+1 ' +
    '4+2 2+2 b g+b f+2 2+7 2+2 2+m 2+9 2+4 8+3 s+1 5+9 j+1 2+7 2+2 2+m 2+9 2+4 5 2+4 3+1 2+1 a+1 8 2+1 ' +
    '5+9 j+1 2+7 2+2 2+m 2+f 5+2 6+2 2+2 b 9+1 5+9 j+1 2+h 4+n 2+8 2 3+6 9+2 7+7 j+2 d+1b 2+1 d+6 9+c ' +
    '12+1 2 3+1 2 3 7+3 2+6 2+2 2 2 3+1 2+3 2+1 a 3+4 2 a+9 3+1 z+n 3+q 2 2 6+9 2+x l 6 3+3 1f+7 2+5 3 ' +
    '1d+x 2+4 2+1 2 5 7 8+n 21+11 b+14 3 5+2h 6+1v 6+29 7+6 2+1q 2 2+3 3+6 2 2+3 3+12 2 2+3 3+u 2 2+3 3+6 ' +
    '2 2+3 3+6 2+6 2+m 2+u 2 2+3 3+6 2+12 2+i 7+r 10+2c d+hh b+p 6+28 g+c 2+3 f+h 4+1 a+h f+c 2+2 g+1i ' +
    '8+7 2+1 c+6 2 4+9 13+9 7+2f 9+14 120+4b 5+2h 7+l 3+5 3+11 3+5 3+7 2 2 2 2+u 3+1g 2+6 2 4+2 2+6 4+3 ' +
    '3+5 5+c 6+2 2+6 i 2r e 3n 5 3+9 2 4+4 7 2 2 2+3 2+2 2+6 4+2 6+4 n+z c3+1w r 7b+25 270+2 q+8 8+4 3+4 ' +
    '5+2d 7+2 2+2h 2+3 6+13 5+2l 2+13 1l+18 4+z t+r 4+1d g+b 5+1a 2+3a 5+2q 3+u 2+52t 23+g4l 2j+wc ' +
    '1h0+8mb 2l+6r1 3+1m 46+6 d+4 sq+p 7+p c+2g 4+5 3+5 3+5 3+2 mc+u 2+3 d+q 52+11 3+11 148j+6t b+12 4+1o ' +
    '4+8 h+1 8+t 5+1b f7+2c 2+1y 2+1 3 3+1 3+3 2+b 2 2+3 2+1 2+1s 2+3 3+7 2+6 2+r 2+3 2+4 2 4+6 2+9d 5+81 ' +
    '7xz+wye g16+f1 gvz7+1ekd 3+1ekd',
)

/** Given a normal form only after Unicode 3.2, where they were unassigned and therefore stay as they are. */
export const NORMALISED_LATER = codePointSet(
  'nk+f 88 7v o b 2 21+a 1o+9 b0+8 a p+3 2+8 2+2 2+4 18+2 1p+7 17+n 2+s 73 fy 3k 3j+1 am ao 2b 33 gx+2 ' +
    'qe 5k 9o+2 64+1 20 l+7 3 1d+d 2+f 2u g 13+8 1j+1 1n c+1 1w 21+9 1z+2 2+c 2+6 5 7 4+1 1f+2 2+a 2+h ' +
    '2+r e z+2s i9+c 27+5 23+1 k+2 1j 25v+1 36+2 3i g 2p+v ta+1 12+3 9 18+2 26+3 1c 3c+3 2s+1 w mls 5+9 ' +
    'v+3 29+1 3j 2j+1 2 4 2 6 2 l+3 4+1 d 12 48 s+h 1m+2 12 2o d 6o 2+2 3+1 6+1 2 1h 2u+3 a 3o fgh+1 1o+2 ' +
    '3+2x mv+9 b+b o+1 qd 6b 46+4 sn+4 2+15 2+8 gj 2 15+2 5 4m+1 fy+3 15+l 92+1 29+2 1z+a 1e+3 5d 16 f ' +
    '1m+1 1y+2 1d+1 1r 25 a 2z+1 4z+1 29+1 h p+6 4+4 5q 4 o 2s+1 70+1 3j 3b+1 38 7i+1 77+1 5 4d 2c j 2a ' +
    'bq 77 2+1 2a bu+1 ey6+4 1o+6 oa+o 8o+1 f59 37c+p 11v+2 hp df+1 85+1 1md+6 2+g 3+6 2+1 2+4 6+1p y ' +
    '4h+6 ag 1q+3 e5+3 rl+6 32+6 xi+3 2+q 2+1 2 3 2+9 2+3 2 2 7 5 2 2 2+2 2+1 2 3 2 2 2 2 2+1 2 3+3 2+6 ' +
    '2+3 2+3 2 2+9 2+g 6+2 2+4 2+g g5+a 6+u 2+v r+2 10 34+2 e+17 5+8 8+1 1wf+9',
)

export interface CodePointSet {
  has(codePoint: number): boolean
}

function codePointSet(ranges: string): CodePointSet {
  let bounds: number[] | undefined
  return {
    has(codePoint) {
      bounds ??= parseRanges(ranges)
      // Starts are at even places, ends at odd ones: a code point is inside when it stands behind a start.
      let low = 0
      let high = bounds.length
      while (low < high) {
        const middle = (low + high) >> 1
        if (bounds[middle]! <= codePoint) low = middle + 1
        else high = middle
      }
      return low % 2 === 1
    },
  }
}

/** `[start, end, start, end, …]`, ends exclusive. */
function parseRanges(ranges: string): number[] {
  const bounds: number[] = []
  let last = 0
  for (const range of ranges.split(' ')) {
    const [distance = '', more = '0'] = range.split('+')
    const start = last + Number.parseInt(distance, 36)
    last = start + Number.parseInt(more, 36)
    bounds.push(start, last + 1)
  }
  return bounds
}
